"""Count all stored turns again: hand-overs by conversation and model failures are new."""

from typing import Any

from django.db import migrations, models


def forget_counts(apps: Any, schema_editor: Any) -> None:
    """The job begins at the first record."""
    apps.get_model("audit", "CeTurnCount").objects.all().delete()
    apps.get_model("audit", "CeCountProgress").objects.update(counted=0)


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_inbox_kinds")]

    operations = [
        migrations.RunPython(forget_counts, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="ceturncount",
            name="kind",
            field=models.TextField(
                help_text="What is counted: such as TURN, STATE or STAGE, or the table of a deciding row."
            ),
        ),
    ]
