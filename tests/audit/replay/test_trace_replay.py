import json

import pytest

from audit.models import CeAudit
from audit.replay.trace_replay import TraceExpectation, replay
from config_admin.models import CeResponse
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def test_messages_are_turns_of_one_fresh_conversation() -> None:
    create_help_desk()

    result = replay(["hours", "fees"], [TraceExpectation(0, "hours", "IDLE"), TraceExpectation(1, "FEES")])

    assert result.has_passed()
    assert [(turn.turn_index, turn.user_text, turn.intent, turn.state) for turn in result.turns] == [
        (0, "hours", "HOURS", "IDLE"),
        (1, "fees", "FEES", "IDLE"),
    ]
    assert "mcp" in json.loads(result.turns[1].context_json)
    assert CeAudit.objects.values("conversation_id").distinct().count() == 1
    assert result.as_json()["passed"] is True
    assert set(result.as_json()["turns"][0]) == {"turnIndex", "userText", "intent", "state", "contextJson"}


def test_what_is_expected_otherwise_is_a_text_and_an_index_outside_is_one_too() -> None:
    create_help_desk()

    result = replay(
        ["hours"], [TraceExpectation(0, "FEES", "DONE"), TraceExpectation(3, "HOURS"), TraceExpectation(-1)]
    )

    assert not result.has_passed()
    assert result.assertion_failures == [
        "turn 0: expected intent FEES, got HOURS",
        "turn 0: expected state DONE, got IDLE",
        "turn 3 is out of range",
        "turn -1 is out of range",
    ]


def test_a_turn_that_fails_has_led_to_an_error() -> None:
    create_help_desk()
    CeResponse.objects.filter(intent_code="HOURS").delete()

    assert replay(["hours"], [TraceExpectation(0, "ERROR", "ERROR")]).has_passed()
