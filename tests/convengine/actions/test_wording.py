"""The question in a model's words."""

from typing import Any

import pytest

from convengine.domain.ports import LlmAnswer
from convengine.domain.rows import Row
from convengine.steps.disambiguation import DisambiguationStep
from tests.builders import (
    make_action,
    make_config,
    make_intent,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

ON = make_config("DisambiguationStep/ENABLE_LLM", "true")
ROWS = (make_intent("ORDER"), make_action("cancel_flight"), make_action("cancel_hotel", description="the room"))
TEMPLATE = "More than one action fits here. Which one do you mean: cancel_flight, cancel_hotel (the room)?"


def ask(*answers: Any, rows: tuple[Row, ...] = (ON,)) -> tuple[str, Any, AnsweringModel]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(*ROWS, *rows), model=model if answers else None)
    params = {"policy_decision": "EXECUTE_PENDING_ACTION", "skip_intent_resolution": True}
    session = make_session(intent="ORDER", state="CONFIRM", user_text="yes", input_params=params)
    after = DisambiguationStep().execute(session, turn).session
    assert after.reply_override is not None
    assert payload(turn, "DISAMBIGUATION_REQUIRED")["question"] == after.reply_override.text
    return after.reply_override.text, turn, model


def source(turn: Any) -> Any:
    return payload(turn, "DISAMBIGUATION_REQUIRED")["questionSource"]


def test_the_model_words_the_question_when_it_may() -> None:
    text, turn, model = ask("Your CANCEL_FLIGHT, or cancel_hotel? ")

    assert (text, source(turn)) == ("Your CANCEL_FLIGHT, or cancel_hotel?", "LLM")
    assert model.requests[0].purpose == "DISAMBIGUATION"
    assert "The 2 options: cancel_flight, cancel_hotel (the room)" in model.requests[0].user
    assert [stage for stage in stages(turn) if "LLM" in stage] == [
        "DISAMBIGUATION_LLM_INPUT",
        "DISAMBIGUATION_LLM_OUTPUT",
    ]


@pytest.mark.parametrize("code", ["LLM_CALL_FAILED", "LLM_TIMEOUT"])
def test_DIS_V6_a_model_that_is_out_leaves_the_templates_question(code: str) -> None:
    text, turn, _ = ask(LlmAnswer(error_code=code, error_message="503"))

    assert (text, source(turn)) == (TEMPLATE, "TEMPLATE")
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == code


def test_DIS_V7_so_does_a_question_that_omits_an_option() -> None:
    text, turn, _ = ask("Do you mean cancel_flight?")

    assert (text, source(turn)) == (TEMPLATE, "TEMPLATE")
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["omitted"] == ["cancel_hotel"]


def test_a_blank_one_and_prompts_with_a_fault() -> None:
    assert ask(" ")[0] == TEMPLATE
    broken = make_config("DisambiguationStep/LLM_USER_PROMPT", "{{ nope }}")
    text, turn, model = ask("x", rows=(ON, broken))

    assert (text, model.requests) == (TEMPLATE, [])
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == "UNRESOLVED_PROMPT_VARIABLE"


def test_a_spent_budget_is_a_model_that_is_out() -> None:
    _, turn, _ = ask("cancel_flight cancel_hotel", rows=(ON, make_config("LLM/MAX_CALLS_PER_TURN", "1")))
    assert source(turn) == "LLM"
    turn.trail.events.clear()
    session = make_session(intent="ORDER", state="CONFIRM", input_params={"policy_decision": "EXECUTE_PENDING_ACTION"})
    DisambiguationStep().execute(session, turn)

    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == "LLM_BUDGET_EXCEEDED"
    assert source(turn) == "TEMPLATE"


def test_by_default_and_without_a_model_nobody_is_asked() -> None:
    text, _, model = ask("cancel_flight cancel_hotel", rows=())

    assert (text, model.requests) == (TEMPLATE, [])
    assert ask()[0] == TEMPLATE
