import json
from typing import Any

import pytest

from convengine.engine.steps.dialogue_act.step import DialogueActStep
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_rule, make_snapshot, make_turn, payload, stages
from tests.fakes.models import AnsweringModel

OSLO = (Exchange("How is the weather in Oslo today?", "Sunny."),)
OUT = LlmAnswer(error_code="LLM_TIMEOUT", error_message="20 s are over")


def run(
    text: str, answer: Any, *rows: Row, mode: str = "REGEX_THEN_LLM", **fields: Any
) -> tuple[Session, Turn, AnsweringModel]:
    said = answer if isinstance(answer, str | LlmAnswer) else json.dumps(answer)
    model = AnsweringModel([said])
    turn = make_turn(make_snapshot(make_config("DialogueActStep/RESOLUTE", mode), *rows), text=text, model=model)
    session = Session(CONVERSATION, user_text=text, **fields)
    return DialogueActStep().execute(session, turn).session, turn, model


def read_result(session: Session) -> tuple[str, float, str]:
    params = session.input_params
    return params["dialogue_act"], params["dialogue_act_confidence"], params["dialogue_act_source"]


def test_DA_V17_the_model_decides_and_restates_where_patterns_are_unsure() -> None:
    query = "What is the weather in Oslo tomorrow?"
    answer = {"dialogueAct": "question", "confidence": 1.7, "standaloneQuery": query}
    session, turn, model = run("what about tomorrow", answer, history=OSLO)

    assert read_result(session) == ("QUESTION", 1.0, "LLM")
    assert (session.standalone_query, session.query_rewritten) == (query, True)
    assert session.input_params["resolved_user_input"] == query
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["standaloneQuery"] == query
    assert "How is the weather in Oslo today?" in model.requests[0].user
    assert "standaloneQuery" in model.requests[0].json_schema["properties"]


@pytest.mark.parametrize(
    ("rows", "history"),
    [
        pytest.param((), (), id="nothing was said before"),
        pytest.param((make_config("DialogueActStep/QUERY_REWRITE_ENABLED", "false"),), OSLO, id="switched off"),
    ],
)
def test_without_history_or_by_setting_nothing_is_restated(rows: tuple[Row, ...], history: Any) -> None:
    session, _, model = run("what now", {"dialogueAct": "QUESTION", "confidence": 0.9}, *rows, history=history)

    assert "standaloneQuery" not in model.requests[0].json_schema["properties"]
    assert (session.standalone_query, session.query_rewritten) == (None, False)


def test_DA_V18_a_model_may_not_make_a_reset_of_a_sentence() -> None:
    answer = {"dialogueAct": "RESET", "confidence": 0.9, "standaloneQuery": "Start over"}
    session, turn, _ = run("I want out of this", answer, history=OSLO)

    params = session.input_params
    assert read_result(session) == ("NEW_REQUEST", 0.70, "REGEX_GUARD")
    assert (params["dialogue_act_guard_applied"], params["dialogue_act_guard_reason"]) == (True, "REGEX_GUARD_RESET")
    assert params["dialogue_act_llm_candidate"] == "RESET"
    assert params["dialogue_act_llm_standalone_query"] == "Start over"
    assert session.standalone_query is None
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["guardReason"] == "REGEX_GUARD_RESET"


def test_a_reset_that_the_words_bear_out_resets_whoever_saw_it_first() -> None:
    session, turn, _ = run("start over", {"dialogueAct": "RESET", "confidence": 0.9}, mode="LLM_ONLY", intent="LOAN")

    assert (session.intent, session.reset_only) == ("UNKNOWN", True)
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["dialogueActSource"] == "LLM"


@pytest.mark.parametrize(
    ("answer", "exception", "told"),
    [
        pytest.param("sure thing", "InvalidJson", True, id="DA_V19-no JSON"),
        pytest.param(OUT, "LlmTimeout", False, id="DA_V20-a time-out"),
        pytest.param(["QUESTION"], "InvalidJson", True, id="a list"),
        pytest.param("  ", "LlmEmptyResponse", False, id="nothing"),
        pytest.param({"dialogueAct": "SHOUT", "confidence": 1}, "UnknownDialogueAct", True, id="an act that is none"),
        pytest.param({"confidence": 1}, "UnknownDialogueAct", True, id="no act"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_patterns(answer: Any, exception: str, told: bool) -> None:
    session, turn, model = run("walk me through", answer)

    assert read_result(session) == ("NEW_REQUEST", 0.70, "REGEX_FALLBACK")
    assert payload(turn, "DIALOGUE_ACT_LLM_ERROR")["exception"] == exception
    assert stages(turn).count("DIALOGUE_ACT_LLM_ERROR") == 1
    assert ("DIALOGUE_ACT_LLM_OUTPUT" in stages(turn)) is told
    assert len(model.requests) == 1


def test_a_prompt_that_cannot_be_filled_in_leaves_the_patterns() -> None:
    broken = make_config("DialogueActStep/USER_PROMPT", "{{ nowhere }}")
    session, turn, model = run("walk me through", {}, broken)

    assert read_result(session)[2] == "REGEX_FALLBACK"
    assert payload(turn, "DIALOGUE_ACT_LLM_ERROR")["exception"] == "PromptRender"
    assert not model.requests


def test_a_spent_budget_is_a_model_that_is_out() -> None:
    limit = make_config("LLM/MAX_CALLS_PER_TURN", "1")
    turn = make_turn(make_snapshot(limit), model=AnsweringModel(['{"dialogueAct": "QUESTION", "confidence": 1}']))
    session = Session(CONVERSATION, user_text="walk me through")

    first = DialogueActStep().execute(session, turn).session
    second = DialogueActStep().execute(session, turn).session

    assert (read_result(first)[2], read_result(second)[2]) == ("LLM", "REGEX_FALLBACK")
    assert payload(turn, "DIALOGUE_ACT_LLM_ERROR")["exception"] == "LlmBudgetExceeded"


def test_an_unsure_model_is_not_followed_where_a_bound_is_set() -> None:
    bound = make_config("DialogueActStep/LLM_MIN_CONFIDENCE", "0.6")
    answer = {"dialogueAct": "EDIT", "confidence": "0.5"}
    session, _, _ = run("walk me through", answer, bound)

    params = session.input_params
    assert read_result(session)[2] == "REGEX_FALLBACK"
    assert (params["dialogue_act_guard_applied"], params["dialogue_act_guard_reason"]) == (False, "LLM_LOW_CONFIDENCE")
    assert (params["dialogue_act_llm_candidate"], params["dialogue_act_llm_confidence"]) == ("EDIT", 0.5)
    assert read_result(run("walk me through", answer)[0]) == ("EDIT", 0.5, "LLM")


def test_llm_only_asks_even_where_the_patterns_are_sure() -> None:
    assert read_result(run("yes", {"dialogueAct": "NEGATE", "confidence": 0.8}, mode="LLM_ONLY")[0]) == (
        "NEGATE",
        0.8,
        "LLM",
    )


def test_what_is_asked_and_said_stands_in_the_trail() -> None:
    _, turn, model = run("walk me through", {"dialogueAct": "QUESTION", "confidence": 0.9})

    told = payload(turn, "DIALOGUE_ACT_LLM_INPUT")
    assert (told["system_prompt"], told["user_prompt"]) == (model.requests[0].system, model.requests[0].user)
    assert told["schema"] == model.requests[0].json_schema
    assert payload(turn, "DIALOGUE_ACT_LLM_OUTPUT") == {"json": {"dialogueAct": "QUESTION", "confidence": 0.9}}


def test_rules_see_what_the_model_would_have_said() -> None:
    rule = make_rule(
        phase="POST_DIALOGUE_ACT",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.inputParams.dialogue_act_llm_candidate == 'RESET')]",
        action="SET_DIALOGUE_ACT",
        action_value="NEGATE",
    )

    assert read_result(run("scrap that whole thing", {"dialogueAct": "RESET", "confidence": 1}, rule)[0])[0] == "NEGATE"


def test_a_turn_that_only_resets_asks_nobody() -> None:
    _, _, model = run("x", {}, mode="LLM_ONLY", reset_only=True, reset_reason="INPUT_PARAM:reset")

    assert not model.requests
