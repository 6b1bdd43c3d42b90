"""Channels and schedules of drafts are sealed: those that exist get it now, as they are."""

from typing import Any, ClassVar

from django.db import migrations, transaction

from audit.record.sealed_states import list_models, lock_states, note_change

_TABLES = {"ce_channel", "ce_draft_schedule"}


def seal_rows(apps: Any, schema_editor: Any) -> None:
    """Seal the rows as they are, unless an earlier migration did."""
    states = apps.get_model("audit", "CeSealedState").objects
    for model in (model for model in list_models() if model._meta.db_table in _TABLES):
        if not states.filter(table_name=model._meta.db_table).exists():
            with transaction.atomic():
                note_change(model, {}, lock_states(model, model._default_manager.values_list("pk", flat=True)))


class Migration(migrations.Migration):
    """Sealed states."""

    dependencies: ClassVar = [
        ("audit", "0014_handed_over_after_failures"),
        ("ce_channels", "0003_flows_get_attachments"),
        ("config_admin", "0007_first_steps"),
    ]
    operations: ClassVar = [migrations.RunPython(seal_rows, migrations.RunPython.noop)]
