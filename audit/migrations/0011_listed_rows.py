"""Roots list the rows that have proofs, and webhooks are sealed: those that exist get it now, as they are."""

from typing import Any, ClassVar

from django.db import migrations, models, transaction

from audit.record.sealed_states import lock_states, note_change
from convengine.server.webhooks.models import CeWebhook


def seal_webhooks(apps: Any, schema_editor: Any) -> None:
    """Seal the webhooks as they are."""
    with transaction.atomic():
        note_change(CeWebhook, {}, lock_states(CeWebhook, CeWebhook.objects.values_list("pk", flat=True)))


class Migration(migrations.Migration):
    """A column, and sealed states."""

    dependencies: ClassVar = [("audit", "0010_outcomes"), ("ce_webhooks", "0003_proofs_of_deliveries")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="celedger",
            name="rows",
            field=models.BinaryField(null=True, help_text="The rows with proofs that were added, compressed."),
        ),
        migrations.RunPython(seal_webhooks, migrations.RunPython.noop),
    ]
