"""One chain per table in place of one per day, in the format of the seals of turns; and states of rows that may change.

Entries that exist are sealed again, and rows that may change are sealed as they are: verify the record before.
"""

from typing import Any, ClassVar

import django.utils.timezone
from django.db import connections, migrations, models, transaction
from django.db.models import QuerySet

from audit.models import CeAccessLog, CeChain, CeLedger, CeMcpUserFeedback
from audit.record.sealed_states import list_models, lock_states, note_change
from audit.seal import GENESIS, Seal

_PROOF = models.TextField(default="", help_text="Proof that the product wrote this row.")
#: Rows per sealed state.
_BATCH = 500


def seal_entries(apps: Any, schema_editor: Any) -> None:
    """Seal all entries again, each after the one before it."""
    for model in (CeAccessLog, CeMcpUserFeedback, CeLedger):
        _drop_trigger(schema_editor, model._meta.db_table)
        with transaction.atomic():
            last, head = 0, GENESIS
            columns = ("pk", *model.SEALED, *model.ERASABLE)
            for entry in QuerySet(model).only(*columns).order_by("pk").iterator():
                seal = Seal.create(head, entry.encode())
                QuerySet(model).filter(pk=entry.pk).update(seal=seal.to_bytes())
                last, head = entry.pk, seal.hash
            if last:
                CeChain.lock(model._meta.db_table).store(last=last, head=head)


def seal_states(apps: Any, schema_editor: Any) -> None:
    """Seal drafts, reviews, gradual releases, test runs and results as they are."""
    for model in (model for model in list_models() if model._meta.app_label == "config_admin"):
        keys = list(model._default_manager.order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(keys), _BATCH):
            with transaction.atomic():
                note_change(model, {}, lock_states(model, keys[start : start + _BATCH]))


def _drop_trigger(schema_editor: Any, table: str) -> None:
    """The next start of the server makes it again."""
    on_table = f" ON {table}" if connections[schema_editor.connection.alias].vendor == "postgresql" else ""
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_sealed{on_table}")


class Migration(migrations.Migration):
    """Two tables in place of one, filled."""

    dependencies: ClassVar = [
        ("audit", "0005_one_table_of_counts"),
        ("ce_sessions", "0002_conversation_proof"),
        ("config_admin", "0004_test_conversation"),
    ]
    operations: ClassVar = [
        migrations.CreateModel(
            name="CeChain",
            fields=[
                ("proof", _PROOF),
                (
                    "table_name",
                    models.TextField(
                        "table", primary_key=True, serialize=False, help_text="The table whose rows are chained."
                    ),
                ),
                ("last", models.BigIntegerField("last entry", default=0, help_text="The number of the last entry.")),
                ("head", models.BinaryField("seal", default=GENESIS, help_text="The hash of its seal.")),
                (
                    "removed_to",
                    models.BigIntegerField(
                        "removed to", default=0, help_text="Earlier entries, and this one, are removed."
                    ),
                ),
                (
                    "base",
                    models.BinaryField(default=GENESIS, help_text="The hash of the seal of the last removed entry."),
                ),
            ],
            options={
                "verbose_name": "chain of a table",
                "verbose_name_plural": "chains of tables",
                "db_table": "ce_chain",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="CeSealedState",
            fields=[
                (
                    "seal",
                    models.BinaryField(
                        null=True,
                        editable=False,
                        help_text="The seal of the entry, with the hash of the entry before it.",
                    ),
                ),
                ("state_id", models.BigAutoField("id", primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField("time", default=django.utils.timezone.now)),
                ("table_name", models.TextField("table", help_text="The table of the rows.")),
                ("hashes", models.JSONField(help_text="By the key of each row its hashes before and after; null without a row.")),
            ],
            options={
                "verbose_name": "sealed state",
                "db_table": "ce_sealed_state",
                "default_permissions": (),
                "indexes": [models.Index(fields=["table_name", "state_id"], name="ce_sealed_state_table")],
            },
        ),
        migrations.DeleteModel(name="CeChainDay"),
        migrations.RunPython(seal_entries, migrations.RunPython.noop),
        migrations.RunPython(seal_states, migrations.RunPython.noop),
    ]
