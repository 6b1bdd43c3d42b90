"""Runs of actions, threads and stored answers have a proof, and that of a conversation tells the session before it.

Those that exist get it now, as they are: verify the record before.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django.db import migrations, models

from convengine.server.database.signed_rows import is_proven, prove_columns, sign_claim
from convengine.server.sessions.models import describe_identity

#: Rows per statement.
_BATCH = 500
_COLUMNS = {
    "CePendingActionExecution": (
        *("conversation_id", "turn_id", "action_key", "action_ref", "runtime_nonce", "status", "request_hash"),
        *("result_json", "started_at", "finished_at"),
    ),
    "CeThread": ("workspace_id", "channel", "remote_jid"),
    "CeIdempotency": (
        *("api_key", "key", "body_hash", "conversation_id", "turn_id", "answer", "created_at", "expires_at"),
    ),
}


def prove_rows(apps: Any, schema_editor: Any) -> None:
    """Prove the rows as they are."""
    for name, columns in _COLUMNS.items():
        model = apps.get_model("ce_sessions", name)
        rows = model.objects.using(schema_editor.connection.alias)
        for batch in _read_batches(rows):
            for row in batch:
                row.proof = prove_columns(model._meta.db_table, [getattr(row, column) for column in columns])
            rows.bulk_update(batch, ["proof"])


def prove_previous_sessions(apps: Any, schema_editor: Any) -> None:
    """Prove which session was before, where the rest of the row is genuine."""
    conversations = apps.get_model("ce_sessions", "CeConversation").objects.using(schema_editor.connection.alias)
    columns = ("workspace_id", "channel", "remote_jid", "opened_by", "previous_session", "proof")
    for batch in _read_batches(conversations.only(*columns).exclude(previous_session=None)):
        for row in batch:
            identity = (row.workspace_id, row.channel, row.remote_jid, row.opened_by)
            if is_proven("ce_conversation", describe_identity(row.pk, *identity), row.proof):
                claim = describe_identity(row.pk, *identity, str(row.previous_session_id))
                row.proof = sign_claim("ce_conversation", claim)
        conversations.bulk_update(batch, ["proof"])


def _read_batches(rows: Any) -> Iterator[Sequence[Any]]:
    batch = list(rows.order_by("pk")[:_BATCH])
    while batch:
        yield batch
        batch = list(rows.order_by("pk").filter(pk__gt=batch[-1].pk)[:_BATCH])


class Migration(migrations.Migration):
    """Columns, filled."""

    dependencies: ClassVar = [("ce_sessions", "0002_conversation_proof")]
    operations: ClassVar = [
        *(
            migrations.AddField(
                model_name=name.lower(),
                name="proof",
                field=models.TextField(default="", db_default="", help_text="Proof that the product wrote this row."),
            )
            for name in _COLUMNS
        ),
        migrations.RunPython(prove_rows, migrations.RunPython.noop),
        migrations.RunPython(prove_previous_sessions, migrations.RunPython.noop),
    ]
