import uuid

import pytest

from audit.narration.decisions import Decision, list_reasons
from audit.record.events import expand_events
from audit.record.queries import read_turns
from config_admin.models import CeIntentClassifier, CeRule
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


def test_a_decision_between_phrases_was_looked_for_by_nothing_but_the_message() -> None:
    create_help_desk()
    CeIntentClassifier.objects.create(
        intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="are you open"
    )
    caller = Caller()
    caller.say("do you open bottles")
    decision = read_reasons(caller)["Intent"]

    assert "phrases" in decision.choice.payload["key"]
    assert decision.key == []


def test_a_turn_without_events_tells_nothing() -> None:
    assert list_reasons([]) == []
