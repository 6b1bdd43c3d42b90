"""Messages that nobody understood."""

from typing import Any

import pytest

from convengine.engine.steps.responses.step import ResponseResolutionStep
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.ports import LlmAnswer, LlmRequest, ModelCall
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import FieldsRead, Session, Transition
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_action,
    make_config,
    make_intent,
    make_response,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

ROWS = (
    make_response("hello"),
    make_response("pardon?", state_code="NOT_UNDERSTOOD"),
    make_response("a colleague", state_code="HAND_OVER"),
)


def run(*rows: Row, text: str = "purple elephants", **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), *rows), text=text)
    session = make_session(user_text=text, intent="LOAN", state="IDLE", **fields)
    return ResponseResolutionStep().execute(session, turn).session, turn


def test_it_has_an_answer_of_its_own_and_changes_neither_intent_nor_state() -> None:
    session, turn = run(*ROWS)

    assert (session.payload, session.intent, session.state) == (TextPayload("pardon?"), "LOAN", "IDLE")
    assert payload(turn, "NOT_UNDERSTOOD") == {"count": 1, "asked_field": None}
    assert session.input_params["not_understood_count"] == 1


def test_the_intent_s_own_answer_comes_first() -> None:
    session, _ = run(*ROWS, make_response("which loan?", intent_code="LOAN", state_code="NOT_UNDERSTOOD"))

    assert session.payload == TextPayload("which loan?")


def test_without_such_an_answer_everything_stays_as_it_was() -> None:
    session, turn = run(ROWS[0], context={"dialogue": {"not_understood_count": 7}})

    assert session.payload == TextPayload("hello")
    assert "HAND_OVER_OFFERED" not in stages(turn)


def test_after_too_many_in_a_row_a_hand_over_is_offered_once() -> None:
    session, turn = run(*ROWS, context={"dialogue": {"not_understood_count": 2}})

    assert session.payload == TextPayload("a colleague")
    assert payload(turn, "HAND_OVER_OFFERED") == {"count": 3}
    assert "dialogue" not in session.context


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "hello", "input_params": {"dialogue_act": "GREETING"}},
        {"text": "thanks!"},
        {"text": " "},
        {"intent_source": "CLASSIFIER"},
        {"fields_read": FieldsRead(read=("amount",))},
        {"transitions": (Transition("LOAN", "A", "LOAN", "IDLE", "RULE"),)},
        {"input_params": {"tool_status": "SUCCESS"}},
        {"input_params": {"routing_decision": "APPLY_CORRECTION"}},
        {"interaction_decision": "REJECT_PENDING_ACTION"},
        {"reset_reason": "USER_TEXT_COMMAND"},
    ],
    ids=str,
)
def test_a_message_that_something_took_up_is_understood(fields: dict[str, Any]) -> None:
    session, turn = run(*ROWS, context={"dialogue": {"not_understood_count": 1}}, **fields)

    assert session.payload == TextPayload("hello")
    assert "NOT_UNDERSTOOD" not in stages(turn)
    assert "dialogue" not in session.context


def test_an_answer_of_a_model_understands_everything() -> None:
    _, turn = run(make_response("hello", response_type="DERIVED"), *ROWS[1:])

    assert "NOT_UNDERSTOOD" not in stages(turn)


def test_a_stored_tool_result_answers_nothing_new() -> None:
    params = {"tool_status": "SUCCESS", "tool_result": {"reused": True}}

    assert run(*ROWS, input_params=params)[0].payload == TextPayload("pardon?")


def test_the_question_is_the_one_of_an_open_action() -> None:
    rows = (
        make_response("Shall I?", state_code="IDLE", intent_code="LOAN"),
        make_response("{{ question }}", state_code="NOT_UNDERSTOOD"),
        make_action("PAY", intent_code="LOAN", state_code="IDLE"),
    )

    assert run(*rows)[0].payload == TextPayload("Sorry, I did not understand that. Shall I?")


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        ("LLM_TIMEOUT", "One moment."),
        ("LLM_CIRCUIT_OPEN", "One moment."),
        ("LLM_SCHEMA_VIOLATION", "pardon?"),
        (None, "pardon?"),
    ],
)
def test_a_turn_that_got_nothing_from_its_model_says_so_and_blames_nobody(fault: str | None, answer: str) -> None:
    setting = make_config("ResponseResolutionStep/MODEL_UNAVAILABLE_TEXT", "One moment.")
    turn = make_turn(make_snapshot(make_intent("LOAN"), setting, *ROWS), text="purple elephants")
    call = LlmAnswer(error_code=fault)
    turn.model_calls.append(ModelCall(LlmRequest("AGENT", "", ""), call, 1, "LOAN", "IDLE", None, 0.0, 0))

    session = make_session(user_text="purple elephants", intent="LOAN", state="IDLE")
    session = ResponseResolutionStep().execute(session, turn).session

    assert session.payload == TextPayload(answer)
    assert ("NOT_UNDERSTOOD" in stages(turn)) is (answer == "pardon?")
