"""What ends a form, a session, and a hand-over, and what goes on: docs/sessions.md, docs/forms.md."""

import pytest

from tests.dialogues.rows.worlds import (
    ASK_GUESTS,
    CHECK,
    DENTIST,
    make_caller,
    make_flows,
)
from tests.threads import Participant

pytestmark = pytest.mark.django_db

STOP = "Do you want to stop?"
DROPPED = "All right, I have dropped that."


@pytest.mark.parametrize("phrase", ["forget it", "never mind", "Stop!", "nevermind", "leave it", "goodbye"])
def test_a_session_that_asks_whether_to_stop_awaits_the_answer(phrase: str) -> None:
    make_flows(DENTIST)
    guest = Participant()
    first = guest.say("book an appointment")
    guest.say("Ann Bell")

    asked = guest.say(phrase)
    assert asked["reply"].startswith(STOP)
    assert (asked["session"]["lifecycle"], asked["message_intent"]) == ("AWAITING_USER", "RESPONSE")
    stayed = guest.say("no")
    assert stayed["reply"] == ASK_GUESTS
    guest.say(phrase)
    left = guest.say("yes")

    assert (left["reply"], left["session"]["lifecycle"]) == (DROPPED, "RUNNING")
    assert "name" not in left["turn"]["context"]
    assert guest.say("where can I park?")["session_id"] == first["session_id"]


def test_the_same_phrase_twice_is_a_yes_and_at_the_confirmation_it_asks_as_well() -> None:
    make_flows(DENTIST)
    guest = Participant()
    for text in ("book an appointment", "Ann Bell"):
        guest.say(text)
    confirmation = guest.say("two")
    assert (confirmation["reply"], confirmation["session"]["lifecycle"]) == (CHECK, "AWAITING_USER")

    asked, left = guest.say("never mind"), guest.say("never mind")

    assert asked["reply"].startswith(STOP)
    assert [turn["session"]["lifecycle"] for turn in (asked, left)] == ["AWAITING_USER", "RUNNING"]
    assert left["reply"] == DROPPED


def test_outside_of_a_form_the_same_words_end_the_session() -> None:
    make_flows(DENTIST)
    guest = Participant()
    first = guest.say("where can I park?")

    assert guest.say("never mind")["session"]["lifecycle"] == "ABORTED"
    assert guest.say("book an appointment")["session_id"] != first["session_id"]


def test_a_question_which_intent_is_meant_ends_no_conversation() -> None:
    """On the plain turn API and in the chat the configured answer is given, which may ask again."""
    rows = {
        "ce_intent": [{"intent_code": code, "display_name": code, "description": code} for code in ("A1", "B2")],
        "ce_intent_classifier": [
            {"intent_code": code, "state_code": "IDLE", "rule_type": "CONTAINS", "pattern": "stop"}
            for code in ("A1", "B2")
        ],
    }  # fmt: skip
    caller = make_caller(DENTIST, rows=rows)

    answer = caller.say("stop")

    assert answer["stateReport"]["choices"]
    assert answer["stateReport"]["lifecycle"] == "AWAITING_USER"
