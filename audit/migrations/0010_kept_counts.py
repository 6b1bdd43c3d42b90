"""Count stored turns again, for counts that earlier versions had not; those of turns that are gone stay."""

from typing import Any

from django.db import migrations, models

_COPY = """INSERT INTO ce_kept_count
    (hour, workspace_id, channel, config_version, intent_code, kind, value, turns, amount)
    SELECT hour, workspace_id, channel, config_version, intent_code, kind, value, turns, amount FROM ce_turn_count"""


def put_counts_aside(apps: Any, schema_editor: Any) -> None:
    """The job counts from the first record on, and then merges what was put aside."""
    progress = apps.get_model("audit", "CeCountProgress").objects
    if not progress.filter(counted__gt=0).exists():
        return
    schema_editor.execute(_COPY)
    for name in ("CeTurnCount", "CeTurnDayCount"):
        apps.get_model("audit", name).objects.all().delete()
    for number in (1, 2, 3, 4):
        row, _ = progress.get_or_create(pk=number)
        row.recount_until, row.counted = row.counted, 0
        row.save()


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0009_counts_by_day"),
    ]

    operations = [
        migrations.AddField(
            model_name="cecountprogress",
            name="recount_until",
            field=models.BigIntegerField(
                help_text="While turns are counted again: the last record that was counted before.", null=True
            ),
        ),
        migrations.CreateModel(
            name="CeKeptCount",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("hour", models.DateTimeField(help_text="The beginning of the time in which the turns began.")),
                ("workspace_id", models.TextField(verbose_name="workspace")),
                ("channel", models.TextField()),
                ("config_version", models.BigIntegerField(verbose_name="release")),
                (
                    "intent_code",
                    models.TextField(
                        help_text="The intent after the turn; of EXITED the one before.", verbose_name="intent"
                    ),
                ),
                (
                    "kind",
                    models.TextField(
                        help_text="What is counted: such as TURN, STATE or STAGE, or the table of a deciding row."
                    ),
                ),
                ("value", models.TextField(help_text="The outcome, state, error code, stage or key of the row.")),
                (
                    "turns",
                    models.BigIntegerField(
                        help_text="How many turns had it; of MODEL_CALLS, how many calls they made."
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=9,
                        help_text="Of TURN their milliseconds; of MODEL_CALLS their cost.",
                        max_digits=24,
                    ),
                ),
            ],
            options={
                "verbose_name": "kept count",
                "verbose_name_plural": "kept counts",
                "db_table": "ce_kept_count",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "hour", "value", "intent_code", "config_version", "channel", "workspace_id"),
                        name="ce_kept_count_once",
                    )
                ],
            },
        ),
        migrations.RunPython(put_counts_aside, migrations.RunPython.noop),
    ]
