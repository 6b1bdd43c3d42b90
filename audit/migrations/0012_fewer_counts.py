"""Most counts are no longer kept by hour, sums of months are; one pass counts all. Stored turns are counted again."""

from typing import Any

from django.db import migrations, models

_BY_HOUR = (
    *("TURN", "STATE", "ERROR", "STAGE", "TIME", "BEGUN", "HANDED_OVER", "FEEDBACK"),
    *("MODEL_CALLS", "MODEL_FAILED", "MODEL_ERROR"),
    *("FORM_STARTED", "FORM_COMPLETED", "FORM_GAVE_UP", "FORM_LEFT"),
)
_KEY = "hour, workspace_id, channel, config_version, intent_code, kind, value, turns, amount"
_COPY = f"""INSERT INTO ce_kept_count ({_KEY}) SELECT {_KEY} FROM ce_turn_count WHERE kind IN {_BY_HOUR}
    AND (kind <> 'STAGE' OR value = 'NOT_UNDERSTOOD')
    UNION ALL SELECT {_KEY} FROM ce_turn_day_count WHERE kind NOT IN {_BY_HOUR}"""  # noqa: S608 - texts of this migration only
#: What each pass counted is now counted by another.
_MERGED = {3: 1, 4: 2}


def put_counts_aside(apps: Any, schema_editor: Any) -> None:
    """The job counts from the first record on, and then merges what was put aside."""
    progress = apps.get_model("audit", "CeCountProgress").objects
    passes = {row.pk: row for row in progress.all()}
    if not any(row.counted or row.recount_until for row in passes.values()):
        progress.filter(pk__in=_MERGED).delete()
        return
    if all(row.recount_until is None for row in passes.values()):
        schema_editor.execute(_COPY)
    for name in ("CeTurnCount", "CeTurnDayCount"):
        apps.get_model("audit", name).objects.all().delete()
    for merged, number in _MERGED.items():
        row, _ = progress.get_or_create(pk=number)
        other = passes.get(merged)
        row.recount_until = max(
            known for each in (row, other) if each for known in (each.recount_until or each.counted,)
        )
        row.counted = 0
        row.save()
    progress.filter(pk__in=_MERGED).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0011_inbox_messages"),
        ("ce_sessions", "0005_turns_counted_by_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="CeTurnMonthCount",
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
                "verbose_name": "count of turns by month",
                "verbose_name_plural": "counts of turns by month",
                "db_table": "ce_turn_month_count",
                "default_permissions": (),
            },
        ),
        migrations.AddIndex(
            model_name="cemcpuserfeedback",
            index=models.Index(
                condition=models.Q(("replaced_at", None), models.Q(("comment", ""), ("correction", ""), _negated=True)),
                fields=["created_at"],
                name="ce_feedback_comment",
            ),
        ),
        migrations.AddIndex(
            model_name="ceturnindex",
            index=models.Index(
                models.OrderBy(models.F("at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(
                    ("kind", "STAGE"),
                    models.Q(
                        ("role__contains", "/LEFT:"),
                        ("role__contains", "/REFUSED:"),
                        ("role__contains", "/MISSED:"),
                        _connector="OR",
                    ),
                ),
                name="ce_turn_index_form_step",
            ),
        ),
        migrations.AddConstraint(
            model_name="ceturnmonthcount",
            constraint=models.UniqueConstraint(
                fields=("kind", "hour", "value", "intent_code", "config_version", "channel", "workspace_id"),
                name="ce_turn_month_count_once",
            ),
        ),
        migrations.RunPython(put_counts_aside, migrations.RunPython.noop),
    ]
