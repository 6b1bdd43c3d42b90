"""Count by day, too; states, steps of forms and ratings are new."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0008_alerts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="ceturncount",
            name="hour",
            field=models.DateTimeField(help_text="The beginning of the time in which the turns began."),
        ),
        migrations.AlterField(
            model_name="ceturncount",
            name="intent_code",
            field=models.TextField(
                help_text="The intent after the turn; of EXITED the one before.", verbose_name="intent"
            ),
        ),
        migrations.CreateModel(
            name="CeTurnDayCount",
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
                "verbose_name": "count of turns by day",
                "verbose_name_plural": "counts of turns by day",
                "db_table": "ce_turn_day_count",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "hour", "value", "intent_code", "config_version", "channel", "workspace_id"),
                        name="ce_turn_day_count_once",
                    )
                ],
            },
        ),
    ]
