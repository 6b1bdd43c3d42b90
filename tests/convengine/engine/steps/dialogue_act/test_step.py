import json
from typing import Any

import pytest

from convengine.engine.steps.dialogue_act.step import DialogueActStep
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Clarification, Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    CONVERSATION,
    make_config,
    make_intent,
    make_rule,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

PENDING = {"clarification": Clarification("Which city?", "AGENT", from_previous_turn=True)}


class NeverAsked:
    """A configured model that no test here may ask."""

    configured = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        raise AssertionError("the model was asked")


def run(
    text: str | None, *rows: Row, mode: str = "REGEX_ONLY", model: Any = None, **fields: Any
) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_config("DialogueActStep/RESOLUTE", mode), *rows), text=text)
    if model:
        object.__setattr__(turn.ports, "model", model)
    session = make_session(user_text=text, **fields)
    return DialogueActStep().execute(session, turn).session, turn


def act(text: str | None, *rows: Row, **fields: Any) -> tuple[str, float, str]:
    session, _ = run(text, *rows, **fields)
    params = session.input_params
    return params["dialogue_act"], params["dialogue_act_confidence"], params["dialogue_act_source"]


@pytest.mark.parametrize(
    ("text", "act_name", "confidence"),
    [
        pytest.param("  YES! ", "AFFIRM", 0.95, id="DA_V1"),
        pytest.param("Yes, go ahead.", "AFFIRM", 0.95, id="DA_V2"),
        pytest.param("yes?", "QUESTION", 0.70, id="DA_V3"),
        pytest.param("don’t", "NEGATE", 0.95, id="DA_V4"),
        pytest.param("cancel my order", "NEW_REQUEST", 0.70, id="DA_V5"),
        pytest.param("change it please", "EDIT", 0.95, id="DA_V6"),
        pytest.param("change amount to 350000", "NEW_REQUEST", 0.70, id="DA_V7"),
        pytest.param("change flow", "NEW_REQUEST", 0.70, id="DA_V9"),
        pytest.param("Good morning team", "GREETING", 0.95, id="DA_V11"),
        pytest.param("hi, where is my order?", "QUESTION", 0.70, id="DA_V12"),
        pytest.param("no, thanks", "NEGATE", 0.95, id="a polite no"),
        pytest.param("yes, but not today", "NEW_REQUEST", 0.70, id="a yes with a condition is none"),
        pytest.param("", "NEW_REQUEST", 0.40, id="nothing"),
        pytest.param(" \u200b ", "NEW_REQUEST", 0.40, id="nothing that shows"),
    ],
)
def test_patterns_find_the_act(text: str, act_name: str, confidence: float) -> None:
    assert act(text) == (act_name, confidence, "REGEX")


@pytest.mark.parametrize(
    ("text", "act_name"),
    [
        *(
            (text, "AFFIRM")
            for text in ("looks good", "Sounds good!", "go ahead", "please do", "please do it", "do it")
        ),
        *((text, "AFFIRM") for text in ("that's right", "that’s correct")),
        *((text, "NEGATE") for text in ("nope, leave it", "no leave it")),
        ("leave it", "NEW_REQUEST"),
    ],
)
def test_R120_more_ways_to_say_yes_and_no(text: str, act_name: str) -> None:
    assert act(text)[0] == act_name


def test_a_german_conversation_starts_over_in_german() -> None:
    assert act("Von vorn!", make_config("Session/LOCALE", "de-DE"))[0] == "RESET"
    # A bare move of any language that has tables is understood in every conversation.
    assert act("Von vorn!")[0] == "RESET"


def test_DA_V13_a_short_text_answers_only_while_something_is_asked() -> None:
    assert act("Dallas")[:2] == ("NEW_REQUEST", 0.70)
    assert act("Dallas", **PENDING)[:2] == ("ANSWER", 0.75)
    assert act("Dallas", intent_locked=True)[:2] == ("ANSWER", 0.75)


def test_DA_V14_a_long_text_is_no_answer() -> None:
    assert act("x" * 80, **PENDING)[0] == "ANSWER"
    assert act("x" * 81, **PENDING)[0] == "NEW_REQUEST"
    assert act("x" * 81, make_config("DialogueActStep/ANSWER_MAX_CHARS", "81"), **PENDING)[0] == "ANSWER"


def confirming(state: str = "CONFIRM", **contract: Any) -> tuple[Row, ...]:
    template = PromptTemplate(
        template_id=1,
        intent_code="LOAN",
        state_code=state,
        response_type="TEXT",
        interaction_mode="CONFIRM",
        interaction_contract=contract or None,
    )
    return make_intent("LOAN"), template, make_schema("LOAN", {"amount": {"type": "integer"}})


IN_CONFIRM = {
    "intent": "LOAN",
    "state": "CONFIRM",
    "turn_start_intent": "LOAN",
    "turn_start_state": "CONFIRM",
}


def test_DA_V8_an_explicit_edit_of_a_field_where_edits_are_allowed() -> None:
    assert act("change amount to 350000", *confirming(), **IN_CONFIRM) == ("EDIT", 0.92, "REGEX")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param("change amount to 350000", confirming("DRAFT"), id="another state's template"),
        pytest.param("change amount to 350000", confirming(allows=["affirm"]), id="a contract without edit"),
        pytest.param("change colour to red", confirming(), id="no such field"),
        pytest.param("what about the amount", confirming(), id="no edit"),
    ],
)
def test_anything_less_is_no_edit(text: str, rows: tuple[Row, ...]) -> None:
    assert act(text, *rows, **IN_CONFIRM)[0] == "NEW_REQUEST"


@pytest.mark.amended("R9")
def test_DA_V15_nothing_said_asks_no_model() -> None:
    assert act(None, mode="LLM_ONLY", model=NeverAsked()) == ("NEW_REQUEST", 0.40, "REGEX_FALLBACK")
    assert act(None, mode="LLM_ONLY") == ("NEW_REQUEST", 0.40, "REGEX")


def test_DA_V16_a_sure_pattern_asks_no_model() -> None:
    assert act("yes", mode="REGEX_THEN_LLM", model=NeverAsked()) == ("AFFIRM", 0.95, "REGEX")


def test_DA_V21_a_pattern_that_does_not_compile_leaves_the_built_in_one() -> None:
    session, turn = run("yes", make_config("DialogueActStep/REGEX_AFFIRM", "(["))

    assert session.input_params["dialogue_act"] == "AFFIRM"
    assert stages(turn).count("CONFIG_ROW_INVALID") == 1


def test_DA_V22_an_unknown_mode_is_the_default_one() -> None:
    session, turn = run("yes", mode="FOO", model=NeverAsked())

    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["dialogueActResolveMode"] == "AUTO"
    assert payload(turn, "CONFIG_VALUE_INVALID")["usedDefault"] == "AUTO"
    assert session.input_params["dialogue_act_source"] == "REGEX"


def test_without_a_model_patterns_alone_decide_whatever_the_mode() -> None:
    _, turn = run("cancel my order", mode="LLM_ONLY")

    event = payload(turn, "DIALOGUE_ACT_CLASSIFIED")
    assert (event["dialogueActResolveMode"], event["dialogueActSource"]) == ("REGEX_ONLY", "REGEX")


def test_everything_that_was_found_is_stored_and_told() -> None:
    session, turn = run("yes", intent="LOAN", state="CONFIRM")

    params = session.input_params
    assert (params["dialogue_act_regex"], params["dialogue_act_regex_confidence"]) == ("AFFIRM", 0.95)
    assert (params["dialogue_act_llm_candidate"], params["dialogue_act_guard_applied"]) == (None, False)
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED") == {
        "userText": "yes",
        "dialogueAct": "AFFIRM",
        "dialogueActConfidence": 0.95,
        "dialogueActSource": "REGEX",
        "dialogueActResolveMode": "REGEX_ONLY",
        "intent": "LOAN",
        "state": "CONFIRM",
        "regexAct": "AFFIRM",
        "llmCandidate": None,
        "guardApplied": False,
        "guardReason": None,
    }


def test_DA_V23_a_rule_overrules_the_act_and_that_is_told() -> None:
    rule = make_rule(
        phase="POST_DIALOGUE_ACT",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.inputParams.dialogue_act == 'NEW_REQUEST')]",
        action="SET_DIALOGUE_ACT",
        action_value="EDIT",
    )
    session, turn = run("Ohh wait, I missed one zero.", rule)

    assert (session.input_params["dialogue_act"], session.input_params["dialogue_act_source"]) == ("EDIT", "RULE")
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["dialogueAct"] == "NEW_REQUEST"
    assert payload(turn, "DIALOGUE_ACT_FINAL") == {"dialogueAct": "EDIT", "dialogueActSource": "RULE"}
    assert "RULE_APPLIED (DialogueActStep)" in stages(turn)


def test_rules_that_leave_the_act_alone_leave_no_final_act() -> None:
    _, turn = run("yes", make_rule(phase="POST_DIALOGUE_ACT", action="SET_INPUT_PARAM", action_value="seen"))

    assert "DIALOGUE_ACT_FINAL" not in stages(turn)


@pytest.mark.parametrize("text", [pytest.param("start over", id="DA_V24"), pytest.param("/reset", id="DA_V10")])
def test_a_wish_to_start_over_resets(text: str) -> None:
    session, turn = run(text, intent="LOAN", state="CONFIRM", context={"amount": 5}, input_params={"vip": True})

    assert (session.intent, session.state, session.context, session.reset_only) == ("UNKNOWN", "UNKNOWN", {}, True)
    assert payload(turn, "CONVERSATION_RESET")["reason"] == "DIALOGUE_ACT_RESET"
    assert session.input_params["dialogue_act"] == "RESET"
    assert "vip" not in session.input_params


def test_with_the_switch_off_it_is_a_signal_for_rules() -> None:
    rule = make_rule(phase="POST_DIALOGUE_ACT", action="SET_STATE", action_value="ASKED")
    session, turn = run("start over", rule, make_config("DialogueActStep/RESET_ACT_RESETS", "false"), state="CONFIRM")

    assert (session.state, session.input_params["dialogue_act"]) == ("ASKED", "RESET")
    assert "CONVERSATION_RESET" not in stages(turn)


def test_a_turn_is_not_reset_a_second_time_but_has_nothing_left_to_interpret() -> None:
    session, turn = run("start over", reset_reason="INPUT_PARAM:reset")

    assert session.reset_only
    assert "CONVERSATION_RESET" not in stages(turn)


def test_a_turn_that_only_resets_keeps_its_act_and_runs_no_rules() -> None:
    session, turn = run(
        "reset", make_rule(phase="POST_DIALOGUE_ACT"), reset_only=True, reset_reason="USER_TEXT_COMMAND"
    )

    assert session.input_params["dialogue_act"] == "RESET"
    assert stages(turn) == ["DIALOGUE_ACT_CLASSIFIED"]


def test_a_text_is_never_cut_to_make_a_pattern_fit() -> None:
    letters = make_config("DialogueActStep/REGEX_AFFIRM", "a+")

    assert act("a" * 4000, letters)[0] == "AFFIRM"
    assert act("a" * 4000 + "b", letters)[0] == "NEW_REQUEST"


OSLO = (Exchange("How is the weather in Oslo today?", "Sunny."),)
OUT = LlmAnswer(error_code="LLM_TIMEOUT", error_message="20 s are over")


def run_model(
    text: str, answer: Any, *rows: Row, mode: str = "REGEX_THEN_LLM", **fields: Any
) -> tuple[Session, Turn, AnsweringModel]:
    reply = answer if isinstance(answer, str | LlmAnswer) else json.dumps(answer)
    model = AnsweringModel([reply])
    turn = make_turn(make_snapshot(make_config("DialogueActStep/RESOLUTE", mode), *rows), text=text, model=model)
    session = make_session(user_text=text, **fields)
    return DialogueActStep().execute(session, turn).session, turn, model


def read_result(session: Session) -> tuple[str, float, str]:
    params = session.input_params
    return params["dialogue_act"], params["dialogue_act_confidence"], params["dialogue_act_source"]


def test_DA_V17_the_model_decides_and_restates_where_patterns_are_unsure() -> None:
    query = "What is the weather in Oslo tomorrow?"
    answer = {"dialogueAct": "question", "confidence": 1.7, "standaloneQuery": query}
    session, turn, model = run_model("what about tomorrow", answer, history=OSLO)

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
    session, _, model = run_model("what now", {"dialogueAct": "QUESTION", "confidence": 0.9}, *rows, history=history)

    assert "standaloneQuery" not in model.requests[0].json_schema["properties"]
    assert (session.standalone_query, session.query_rewritten) == (None, False)


def test_DA_V18_a_model_may_not_make_a_reset_of_a_sentence() -> None:
    answer = {"dialogueAct": "RESET", "confidence": 0.9, "standaloneQuery": "Start over"}
    session, turn, _ = run_model("I want out of this", answer, history=OSLO)

    params = session.input_params
    assert read_result(session) == ("NEW_REQUEST", 0.70, "REGEX_GUARD")
    assert (params["dialogue_act_guard_applied"], params["dialogue_act_guard_reason"]) == (True, "REGEX_GUARD_RESET")
    assert params["dialogue_act_llm_candidate"] == "RESET"
    assert params["dialogue_act_llm_standalone_query"] == "Start over"
    assert session.standalone_query is None
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["guardReason"] == "REGEX_GUARD_RESET"


def test_a_reset_that_the_words_bear_out_resets_whoever_saw_it_first() -> None:
    session, turn, _ = run_model(
        "start over", {"dialogueAct": "RESET", "confidence": 0.9}, mode="LLM_ONLY", intent="LOAN"
    )

    assert (session.intent, session.reset_only) == ("UNKNOWN", True)
    assert payload(turn, "DIALOGUE_ACT_CLASSIFIED")["dialogueActSource"] == "LLM"


@pytest.mark.parametrize(
    ("answer", "exception", "expected"),
    [
        pytest.param("sure thing", "InvalidJson", True, id="DA_V19-no JSON"),
        pytest.param(OUT, "LlmTimeout", False, id="DA_V20-a time-out"),
        pytest.param(["QUESTION"], "InvalidJson", True, id="a list"),
        pytest.param("  ", "LlmEmptyResponse", False, id="nothing"),
        pytest.param({"dialogueAct": "SHOUT", "confidence": 1}, "UnknownDialogueAct", True, id="an act that is none"),
        pytest.param({"confidence": 1}, "UnknownDialogueAct", True, id="no act"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_patterns(answer: Any, exception: str, expected: bool) -> None:
    session, turn, model = run_model("walk me through", answer)

    assert read_result(session) == ("NEW_REQUEST", 0.70, "REGEX_FALLBACK")
    assert payload(turn, "DIALOGUE_ACT_LLM_ERROR")["exception"] == exception
    assert stages(turn).count("DIALOGUE_ACT_LLM_ERROR") == 1
    assert ("DIALOGUE_ACT_LLM_OUTPUT" in stages(turn)) is expected
    assert len(model.requests) == 1 + expected


def test_a_prompt_that_cannot_be_filled_in_leaves_the_patterns() -> None:
    broken = make_config("DialogueActStep/USER_PROMPT", "{{ nowhere }}")
    session, turn, model = run_model("walk me through", {}, broken)

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
    session, _, _ = run_model("walk me through", answer, bound)

    params = session.input_params
    assert read_result(session)[2] == "REGEX_FALLBACK"
    assert (params["dialogue_act_guard_applied"], params["dialogue_act_guard_reason"]) == (False, "LLM_LOW_CONFIDENCE")
    assert (params["dialogue_act_llm_candidate"], params["dialogue_act_llm_confidence"]) == ("EDIT", 0.5)
    assert read_result(run_model("walk me through", answer)[0]) == ("EDIT", 0.5, "LLM")


def test_llm_only_asks_even_where_the_patterns_are_sure() -> None:
    assert read_result(run_model("yes", {"dialogueAct": "NEGATE", "confidence": 0.8}, mode="LLM_ONLY")[0]) == (
        "NEGATE",
        0.8,
        "LLM",
    )


def test_what_is_asked_and_said_stands_in_the_trail() -> None:
    _, turn, model = run_model("walk me through", {"dialogueAct": "QUESTION", "confidence": 0.9})

    event = payload(turn, "DIALOGUE_ACT_LLM_INPUT")
    assert (event["system_prompt"], event["user_prompt"]) == (model.requests[0].system, model.requests[0].user)
    assert event["schema"] == model.requests[0].json_schema
    assert payload(turn, "DIALOGUE_ACT_LLM_OUTPUT") == {"json": {"dialogueAct": "QUESTION", "confidence": 0.9}}


def test_rules_see_what_the_model_would_have_said() -> None:
    rule = make_rule(
        phase="POST_DIALOGUE_ACT",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.inputParams.dialogue_act_llm_candidate == 'RESET')]",
        action="SET_DIALOGUE_ACT",
        action_value="NEGATE",
    )

    assert (
        read_result(run_model("scrap that whole thing", {"dialogueAct": "RESET", "confidence": 1}, rule)[0])[0]
        == "NEGATE"
    )


def test_a_turn_that_only_resets_asks_nobody() -> None:
    _, _, model = run_model("x", {}, mode="LLM_ONLY", reset_only=True, reset_reason="INPUT_PARAM:reset")

    assert not model.requests
