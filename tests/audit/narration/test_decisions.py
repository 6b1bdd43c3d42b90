import uuid

import pytest

from audit.narration.decisions import Decision, list_reasons
from audit.narration.explanation import describe_fields_read
from audit.record.events import expand_events
from audit.record.queries import read_turns
from config_admin.models import CeIntent, CeIntentClassifier, CeOutputSchema, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def read_reasons(caller: Caller) -> dict[str, Decision]:
    """The reasons of the first turn, by their subject."""
    events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [1])))
    return {reason.subject: reason for reason in list_reasons(events)}


def test_each_decision_is_told_with_what_won_and_what_did_not_and_the_value_that_was_compared() -> None:
    create_help_desk()
    rule = CeRule.objects.get()
    caller = Caller()
    caller.say("hours", inputParams={"vip": False})

    found = read_reasons(caller)
    (lost,) = [row for row in found["Rules before the answer"].losers if row.pk == rule.pk]
    assert lost.about.startswith("When vip is true")
    assert lost.reason == "its condition is not met: vip is false"
    assert found["Intent"].winners
    assert found["Answer"].winners[0].table == "ce_response"


def test_what_a_form_read_and_refused_is_told() -> None:
    with change_set():
        CeIntent.objects.create(intent_code="LOAN", description="A loan.")
        CeIntentClassifier.objects.create(
            intent_code="LOAN", state_code="COLLECT", rule_type="CONTAINS", pattern="loan", priority=1
        )
        date = {"type": "string", "format": "date", "title": "day"}
        schema = {"type": "object", "properties": {"day": date}, "required": ["day"]}
        CeOutputSchema.objects.create(intent_code="LOAN", state_code="COLLECT", json_schema=schema)
        CeResponse.objects.create(
            intent_code="LOAN", state_code="COLLECT", response_type="EXACT", exact_text="{{ question }}"
        )
    caller = Caller()
    caller.say("a loan please")
    caller.say("30 February")
    events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [2])))

    assert describe_fields_read(events) == [
        "The bot had asked for day; not taken: “30 February” for day (there is no such day)."
    ]


def test_a_turn_without_events_tells_nothing() -> None:
    assert list_reasons([]) == []
