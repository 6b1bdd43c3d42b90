"""Results of tests that are deleted with a test or a run are noted."""

from typing import ClassVar

from django.db import migrations, models

from convengine.server.interfaces.sealed_states import delete_sealed


class Migration(migrations.Migration):
    """Nothing changes in the database."""

    dependencies: ClassVar = [("config_admin", "0004_test_conversation")]
    operations: ClassVar = [
        migrations.AlterField(
            model_name="cetestresult",
            name="run",
            field=models.ForeignKey(
                help_text="The run it belongs to.",
                on_delete=delete_sealed,
                related_name="results",
                to="config_admin.cetestrun",
            ),
        ),
        migrations.AlterField(
            model_name="cetestresult",
            name="test_case",
            field=models.ForeignKey(
                help_text="The test that ran.",
                on_delete=delete_sealed,
                related_name="results",
                to="config_admin.cetestcase",
            ),
        ),
    ]
