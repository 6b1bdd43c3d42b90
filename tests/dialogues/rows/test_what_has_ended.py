"""What ends a form, a session, and a hand-over, and what goes on: docs/sessions.md, docs/forms.md."""

from typing import Any

import pytest

from tests.dialogues.rows.worlds import (
    ASK_GUESTS,
    CHECK,
    DENTIST,
    TABLE,
    get_text,
    hold,
    make_caller,
    make_flows,
    make_setting,
    reach_confirmation,
    say,
)
from tests.threads import Participant

pytestmark = pytest.mark.django_db

STOP = "Do you want to stop?"
DROPPED = "All right, I have dropped that."
DESK: dict[str, Any] = {
    **DENTIST,
    "hand_over": "The desk of the dentist will call you.",
    "max_misses": 2,
}
PERSON: dict[str, Any] = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["I want to talk to a person"], "answer": "One moment, I pass you on.",
}  # fmt: skip


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


ACTION = {
    "ce_intent": [{"intent_code": "PAY", "display_name": "Pay", "description": "Pay a bill"}],
    "ce_intent_classifier": [
        {"intent_code": "PAY", "state_code": "COLLECT", "rule_type": "PHRASE", "pattern": "pay my bill"}
    ],
    "ce_output_schema": [
        {
            "intent_code": "PAY",
            "state_code": "COLLECT",
            "json_schema": {
                "type": "object",
                "x-clear": ["DONE", "CANCEL"],
                "properties": {"bill": {"type": "string", "pattern": "^[0-9]{5}$", "title": "Bill"}},
                "required": ["bill"],
            },
        }
    ],
    "ce_rule": [
        {
            "phase": "POST_SCHEMA_EXTRACTION", "intent_code": "PAY", "state_code": "COLLECT", "rule_type": "JSON_PATH",
            "match_pattern": "$[?(@.schemaComplete == true)]", "action": "SET_STATE", "action_value": "CONFIRM",
        }
    ],
    "ce_response": [
        {"intent_code": "PAY", "state_code": "COLLECT", "response_type": "EXACT", "exact_text": "{{ question }}"},
        {"intent_code": "PAY", "state_code": "CONFIRM", "response_type": "EXACT", "exact_text": "Pay {{ bill }}?"},
        {"intent_code": "PAY", "state_code": "KEPT", "response_type": "EXACT", "exact_text": "Kept."},
    ],
    "ce_pending_action": [
        {
            "intent_code": "PAY", "state_code": "CONFIRM", "action_key": "PAY_BILL", "bean_name": "desk",
            "method_names": "pay",
        }
    ],
}  # fmt: skip


@pytest.mark.parametrize("question", ["where can I park?", "what are your prices", "prices pls?"])
def test_nothing_goes_on_after_an_action_was_dropped(question: str) -> None:
    caller = make_caller(DENTIST, rows=ACTION)
    hold(caller, ("pay my bill", "COLLECT", "Please tell me: bill"), ("12345", "CONFIRM", "Pay 12345?"))
    dropped = hold(caller, ("forget it", "UNKNOWN", DROPPED))
    assert (dropped["stateReport"]["lifecycle"], dropped["stateReport"]["confirm"]) == ("RUNNING", None)

    answer = get_text(caller.say(question))

    assert answer in ("Behind the house.", "80 pounds.")


def test_nothing_goes_on_after_a_form_was_dropped() -> None:
    caller = make_caller(DENTIST, TABLE)
    reach_confirmation(caller)
    hold(caller, ("forget it", "CONFIRM", STOP), ("yes", "UNKNOWN", DROPPED))

    assert get_text(caller.say("where can I park?")) == "Behind the house."
    hold(caller, ("book an appointment", "COLLECT", "What is your name?"))


@pytest.mark.parametrize("last", ["blubb", "your manager", "I'd rather speak to somebody"])
def test_after_giving_up_the_hand_over_is_said_once(last: str) -> None:
    caller = make_caller(DESK, TABLE)
    hold(caller, ("book an appointment", "COLLECT", "What is your name?"), ("Ann Bell", "COLLECT", ASK_GUESTS))
    say(caller, "blah blah")
    hold(caller, (last, "HAND_OVER", DESK["hand_over"]))

    answers = [get_text(caller.say(text)) for text in ("blah", "is it far", "zzz")]

    assert DESK["hand_over"] not in answers[0]
    assert answers[0].startswith("Sorry, I did not understand that. Please say in other words what you would like")
    assert get_text(caller.say("where can I park?")) == "Behind the house."
    hold(caller, ("I want to book a table", "COLLECT", "How many guests?"))


def test_after_a_flow_that_hands_over_other_messages_are_answered_as_before_it() -> None:
    caller = make_caller(DENTIST, PERSON)
    hold(caller, ("I want to talk to a person", "HAND_OVER", PERSON["answer"]))

    assert get_text(caller.say("blah blah")).startswith("Sorry, I did not understand that.")
    hold(caller, ("I want to talk to a person", "HAND_OVER", PERSON["answer"]))


def test_an_own_answer_for_what_nobody_understands_comes_first() -> None:
    own = {"intent_code": "DENTIST", "state_code": "NOT_UNDERSTOOD", "response_type": "EXACT", "exact_text": "Pardon?"}
    caller = make_caller(DESK, rows={"ce_response": [own], "ce_config": [make_setting("Form/MAX_MISSES", "9")]})
    say(caller, "book an appointment", "Ann Bell", "your manager")

    assert get_text(caller.say("blah blah")) == "Pardon?"
