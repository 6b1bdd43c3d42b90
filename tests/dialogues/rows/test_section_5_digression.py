"""Dialogue 5, rule by rule: a question in between is answered, and the open question follows."""

from typing import Any

import pytest

from config_admin.models import CeIntentClassifier
from convengine.server.sessions.models import CeConversation
from tests.api import Caller
from tests.dialogues.rows.worlds import (
    ASK_GUESTS,
    ASK_NAME,
    CHECK,
    DENTIST,
    answer_by_model,
    find_event,
    get_text,
    make_caller,
    make_setting,
    say,
)

pytestmark = pytest.mark.django_db

BACK = "80 pounds.\n\nLet us go on. "
PRICES = "what are your prices?"
PARKING = "where can I park?"
#: The engine reads forms itself, so that a model is asked for intents alone.
READS_ALONE = {"ce_config": [make_setting("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC")]}
ACTION = {
    "ce_intent": [{"intent_code": "PAY", "description": "Pay a bill"}],
    "ce_intent_classifier": [
        {"intent_code": "PAY", "state_code": "READY", "rule_type": "PHRASE", "pattern": "pay my bill"}
    ],
    "ce_response": [
        {"intent_code": "PAY", "state_code": "READY", "response_type": "EXACT", "exact_text": "Shall I pay?"}
    ],
    "ce_pending_action": [
        {
            "intent_code": "PAY",
            "state_code": "READY",
            "action_key": "PAY_BILL",
            "bean_name": "desk",
            "method_names": "pay",
        }
    ],
}


def read_dialogue(answer: dict[str, Any]) -> Any:
    return answer["context"].get("dialogue")


@pytest.mark.parametrize(
    ("lines", "state", "question"),
    [
        pytest.param(["book an appointment"], "COLLECT", ASK_NAME, id="while a form asks for its first field"),
        pytest.param(["book an appointment", "Ann Bell"], "COLLECT", ASK_GUESTS, id="while a form has values"),
        pytest.param(["book an appointment", "Ann Bell", "two"], "CONFIRM", CHECK, id="while a confirmation is open"),
        pytest.param(
            ["book an appointment", "Ann Bell", "two", "no"], "CONFIRM", "What should I change",
            id="while the form asks what to change",
        ),
    ],
)  # fmt: skip
def test_the_question_is_answered_and_intent_state_and_asked_field_stay(
    lines: list[str], state: str, question: str
) -> None:
    caller = make_caller()
    before = say(caller, *lines)

    answer = caller.say(PRICES)

    assert get_text(answer).startswith(BACK + question)
    assert (answer["intent"], answer["state"]) == ("DENTIST", state)
    assert read_dialogue(answer) == read_dialogue(before)


def test_an_action_that_waits_for_a_yes_stays_open_and_loses_no_time() -> None:
    caller = make_caller(DENTIST, rows=ACTION)
    before = say(caller, "pay my bill", PARKING)["context"]["pending_action_runtime"]

    answer = caller.say(PRICES)

    after = answer["context"]["pending_action_runtime"]
    assert get_text(answer) == BACK + "Shall I pay?"
    assert {**after, "expires_turn": after["expires_turn"] - 1} == before


def test_DIGRESSION_ANSWERED_names_the_intent_and_the_row() -> None:
    caller = make_caller()
    say(caller, "book an appointment", PRICES)

    event = find_event(caller, 2, "DIGRESSION_ANSWERED")

    assert event["intent"] == "DENTIST_Q1"
    assert CeIntentClassifier.objects.get(pk=event["rowId"]).pattern == "what are your prices"


def test_it_is_in_the_history_of_the_conversation_as_usual() -> None:
    caller = make_caller()
    say(caller, "book an appointment", PRICES)

    turns = CeConversation.objects.get(pk=caller.conversation_id).turns.order_by("turn_no")

    assert [turn.user_input for turn in turns] == ["book an appointment", PRICES]


def test_with_no_intent_marked_the_stages_are_those_of_any_message() -> None:
    unmarked = {**DENTIST, "questions_and_answers": []}
    caller, other = make_caller(unmarked), Caller()
    say(caller, "book an appointment", PRICES)
    say(other, "book an appointment", "what do elephants eat?")

    assert caller.stages(2) == other.stages(2)
    assert "DIGRESSION_ANSWERED" not in caller.stages(2)


@pytest.mark.parametrize(
    ("lines", "state", "question"),
    [
        pytest.param(["book an appointment", "Ann Bell", "two"], "CONFIRM", CHECK, id="at a confirmation"),
        pytest.param(["pay my bill"], "READY", "Shall I pay?", id="while an action waits for a yes"),
    ],
)
def test_a_question_that_only_a_model_recognises_is_answered_in_between_too(
    lines: list[str], state: str, question: str
) -> None:
    caller = make_caller(DENTIST, rows={**ACTION, **READS_ALONE})
    before = say(caller, *lines)

    with answer_by_model(INTENT_AGENT={"intent": "DENTIST_Q1", "confidence": 0.9}):
        answer = caller.say("can I afford that?")

    assert get_text(answer) == BACK + question
    assert (answer["intent"], answer["state"]) == (before["intent"], state)
    assert find_event(caller, len(lines) + 1, "DIGRESSION_ANSWERED")["intent"] == "DENTIST_Q1"
