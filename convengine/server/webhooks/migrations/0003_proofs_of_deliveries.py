"""Each delivery has a proof; those that exist get it now, as they are: verify the record before."""

from typing import Any, ClassVar

from django.db import migrations, models

from convengine.server.database.signed_rows import prove_columns

#: Rows per statement.
_BATCH = 500
_COLUMNS = (
    *("webhook_id", "event_id", "event", "conversation_id", "body", "created_at", "status", "error", "sent_at"),
)


def prove_deliveries(apps: Any, schema_editor: Any) -> None:
    """Prove the deliveries as they are."""
    rows = apps.get_model("ce_webhooks", "CeWebhookDelivery").objects.using(schema_editor.connection.alias)
    batch = list(rows.order_by("pk")[:_BATCH])
    while batch:
        for row in batch:
            row.proof = prove_columns("ce_webhook_delivery", [getattr(row, column) for column in _COLUMNS])
        rows.bulk_update(batch, ["proof"])
        batch = list(rows.order_by("pk").filter(pk__gt=batch[-1].pk)[:_BATCH])


class Migration(migrations.Migration):
    """A column, filled."""

    dependencies: ClassVar = [("ce_webhooks", "0002_deactivated")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="cewebhookdelivery",
            name="proof",
            field=models.TextField(default="", db_default="", help_text="Proof that the product wrote this row."),
        ),
        migrations.RunPython(prove_deliveries, migrations.RunPython.noop),
    ]
