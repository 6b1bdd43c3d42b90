"""Conversations that a person got because the bot gave up have an outcome of their own."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

from django.db import migrations
from django.db.models import F

_WISH, _FAILURE = "HANDED_OVER", "HANDED_OVER_FAILED"
#: A day has at most so many hours.
_DAY = timedelta(hours=25)


def name_failures(apps: Any, schema_editor: Any) -> None:
    """Change outcomes, and their counts, where the record tells that the bot gave up.

    A wish for a person was recorded as not understood, too. The bot gave up if the message before was missed as well.
    """
    for outcome in apps.get_model("audit", "CeOutcome").objects.filter(schema_id=0, outcome=_WISH).iterator():
        if _has_bot_failed(apps, outcome.conversation_id):
            outcome.outcome = _FAILURE
            outcome.save(update_fields=["outcome"])
            _move_counts(apps.get_model("audit", "CeTurnCount"), outcome)


def _has_bot_failed(apps: Any, conversation_id: Any) -> bool:
    turns = apps.get_model("ce_sessions", "CeConversationHistory").objects.filter(conversation_id=conversation_id)
    states = list(turns.order_by("turn_no").values_list("turn_id", "state_code"))
    first = next((number for number, (_, state) in enumerate(states) if state.upper() == "HAND_OVER"), 0)
    index = apps.get_model("audit", "CeTurnIndex").objects
    stages = [set(index.filter(turn_id=turn, kind="STAGE").values_list("value", "role")) for turn, _ in states]
    return first > 0 and all(map(_is_missed, stages[first - 1 : first + 1]))


def _is_missed(stages: set[tuple[str, str]]) -> bool:
    return any(
        stage in ("NOT_UNDERSTOOD", "FORM_GIVEN_UP") or "/MISSED:" in role or "/REFUSED:" in role
        for stage, role in stages
    )


def _move_counts(counts: Any, outcome: Any) -> None:
    """Count the conversation in its hour and its day under its new outcome."""
    about = {name: getattr(outcome, name) for name in ("workspace_id", "channel", "config_version", "intent_code")}
    for old in _find_counts(counts.objects.filter(kind="OUTCOME", value=_WISH, **about), outcome.hour):
        key = {"is_hour": old.is_hour, "hour": old.hour, "kind": "OUTCOME", "value": _FAILURE, **about}
        counts.objects.get_or_create(**key, defaults={"turns": 0, "amount": 0})
        counts.objects.filter(**key).update(turns=F("turns") + 1)
        counts.objects.filter(pk=old.pk).update(turns=F("turns") - 1)
    counts.objects.filter(kind="OUTCOME", value=_WISH, turns__lte=0).delete()


def _find_counts(rows: Any, hour: Any) -> Iterator[Any]:
    """The counts of the hour and of its day; those that are not kept any more are absent."""
    yield from rows.filter(is_hour=True, hour=hour)
    yield from rows.filter(is_hour=False, hour__lte=hour, hour__gt=hour - _DAY).order_by("-hour")[:1]


class Migration(migrations.Migration):
    """No table changes."""

    dependencies: ClassVar = [
        ("audit", "0013_count_deaths"),
        ("ce_sessions", "0001_initial"),
    ]
    operations: ClassVar = [
        migrations.RunPython(name_failures, migrations.RunPython.noop),
    ]
