"""Each conversation has a proof of its participant and its channel; those that exist get it now."""

from typing import Any, ClassVar

from django.db import migrations, models

from convengine.server.sessions.models import prove_identity

#: Rows per statement.
_BATCH = 500


def prove_conversations(apps: Any, schema_editor: Any) -> None:
    """Prove the conversations as they are."""
    conversations = apps.get_model("ce_sessions", "CeConversation").objects.using(schema_editor.connection.alias)
    rows = conversations.only("conversation_id", "workspace_id", "channel", "remote_jid", "opened_by").order_by("pk")
    batch = list(rows[:_BATCH])
    while batch:
        for row in batch:
            row.proof = prove_identity(row.pk, row.workspace_id, row.channel, row.remote_jid, row.opened_by)
        conversations.bulk_update(batch, ["proof"])
        batch = list(rows.filter(pk__gt=batch[-1].pk)[:_BATCH])


class Migration(migrations.Migration):
    """A column, filled."""

    dependencies: ClassVar = [("ce_sessions", "0001_initial")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="ceconversation",
            name="proof",
            field=models.TextField(default="", db_default="", help_text="Proof that the product wrote this row."),
        ),
        migrations.RunPython(prove_conversations, migrations.RunPython.noop),
    ]
