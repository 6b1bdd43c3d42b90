"""What became of conversations and forms has a table, which the job that counts turns fills from the stored turns."""

from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models

#: Measures of alert rules that counted conversations in another turn than the one in which they began.
_REPLACED = {"needed_person": "handed_over", "contained": "resolved"}


def replace_measures(apps: Any, schema_editor: Any) -> None:
    """Give alert rules the measure that is nearest to theirs; no report reads the counts of the old ones."""
    rules = apps.get_model("audit", "CeAlertRule")
    for old, new in _REPLACED.items():
        rules.objects.filter(measure=old).update(measure=new)
    apps.get_model("audit", "CeTurnCount").objects.filter(kind__in=["HANDED_OVER", "NEEDED_PERSON"]).delete()


class Migration(migrations.Migration):
    """A table, and no counts of what is counted otherwise now."""

    dependencies: ClassVar = [
        ("audit", "0009_name_of_asked_messages"),
        ("ce_sessions", "0001_initial"),
    ]
    operations: ClassVar = [
        migrations.CreateModel(
            "CeOutcome",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "schema_id",
                    models.BigIntegerField("form", default=0, help_text="0 for the conversation itself."),
                ),
                ("turn_no", models.IntegerField("turn", help_text="The turn in which it began.")),
                ("hour", models.DateTimeField(help_text="The hour in which it began.")),
                ("workspace_id", models.TextField("workspace")),
                ("channel", models.TextField()),
                ("config_version", models.BigIntegerField("release")),
                (
                    "intent_code",
                    models.TextField("intent", help_text="The intent after the turn in which it began."),
                ),
                ("outcome", models.TextField(help_text="What became of it.")),
                (
                    "field",
                    models.TextField(
                        default="", help_text="The field at which the form ended, or which it asks for."
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        "ce_sessions.ceconversation",
                        django.db.models.deletion.CASCADE,
                        related_name="+",
                        db_index=False,
                    ),
                ),
            ],
            {"db_table": "ce_outcome", "verbose_name": "outcome", "default_permissions": ()},
        ),
        migrations.AddConstraint(
            "CeOutcome",
            models.UniqueConstraint(fields=["conversation", "schema_id", "turn_no"], name="ce_outcome_once"),
        ),
        migrations.RunPython(replace_measures, migrations.RunPython.noop),
    ]
