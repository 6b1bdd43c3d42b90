"""One table holds the counts by hour and by day. Counts by hour are kept for a month."""

from datetime import timedelta
from typing import Any, ClassVar

from django.db import migrations, models
from django.utils import timezone

_COLUMNS = "hour, workspace_id, channel, config_version, intent_code, kind, value, turns, amount"


def move_days(apps: Any, schema_editor: Any) -> None:
    """Put the counts of days into the table of the hours, without its old hours."""
    counts = apps.get_model("audit", "CeTurnCount")
    counts.objects.filter(hour__lt=timezone.now() - timedelta(days=38)).delete()
    schema_editor.execute(
        f"INSERT INTO ce_turn_count (is_hour, {_COLUMNS}) SELECT FALSE, {_COLUMNS} FROM ce_turn_day_count"
    )


class Migration(migrations.Migration):
    """One table, and no counts put aside. The job counts the stored turns again, as there are new kinds."""

    dependencies: ClassVar = [("audit", "0004_turn_words_folded")]
    operations: ClassVar = [
        migrations.RemoveConstraint("CeTurnCount", "ce_turn_count_once"),
        migrations.AddField(
            "CeTurnCount",
            "is_hour",
            models.BooleanField("by hour", default=True, help_text="Of an hour; otherwise of a whole day."),
            preserve_default=False,
        ),
        migrations.RunPython(move_days, migrations.RunPython.noop),
        migrations.AlterField(
            "CeTurnCount",
            "is_hour",
            models.BooleanField("by hour", default=False, help_text="Of an hour; otherwise of a whole day."),
        ),
        migrations.AlterField(
            "CeTurnCount",
            "hour",
            models.DateTimeField(
                help_text="The beginning of the time in which the turns began; of a day its first hour."
            ),
        ),
        migrations.AddConstraint(
            "CeTurnCount",
            models.UniqueConstraint(
                fields=[
                    *("kind", "is_hour", "hour", "value"),
                    *("intent_code", "config_version", "channel", "workspace_id"),
                ],
                name="ce_turn_count_once",
            ),
        ),
        migrations.AddIndex(
            "CeTurnCount",
            models.Index(fields=["hour"], condition=models.Q(is_hour=True), name="ce_turn_count_hours"),
        ),
        migrations.DeleteModel("CeTurnDayCount"),
        migrations.DeleteModel("CeKeptCount"),
        migrations.RemoveField("CeCountProgress", "recount_until"),
        migrations.AddField(
            "CeCountProgress",
            "definition",
            models.SmallIntegerField(default=0, help_text="Which definition of the counts they follow."),
        ),
    ]
