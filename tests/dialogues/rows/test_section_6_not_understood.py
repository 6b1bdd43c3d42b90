"""Dialogue 6, rule by rule: a message that nobody understood, and what counts as understood."""

from typing import Any

import pytest

from audit.record.queries import list_messages_not_understood
from tests.dialogues.rows.worlds import (
    ASK_GUESTS,
    ASK_NAME,
    CHECK,
    DENTIST,
    PARDON,
    answer_by_model,
    find_event,
    get_text,
    hold,
    make_caller,
    make_setting,
    reach_confirmation,
    say,
)

pytestmark = pytest.mark.django_db

NONSENSE = "purple elephants"
#: Rows that take a message up in a way of their own.
RULE = {
    "intent_code": "ANY", "state_code": "ANY", "phase": "PRE_RESPONSE_RESOLUTION", "rule_type": "REGEX",
    "match_pattern": "purple", "priority": 1,
}  # fmt: skip
TOOL = {
    "ce_mcp_tool": [
        {
            "tool_code": "desk.sum", "tool_group": "CALCULATOR_TRANSFORM", "intent_code": "ANY", "state_code": "ANY",
            "description": "adds", "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
        }
    ],
    "ce_tool": [
        {
            "intent_code": "UNKNOWN", "state_code": "UNKNOWN", "tool_group": "CALCULATOR_TRANSFORM",
            "tool_code": "desk.sum", "args_template": {"expression": "1+1"},
        }
    ],
}  # fmt: skip
POLICY = {
    "ce_policy": [
        {"rule_type": "REGEX", "pattern": "purple", "response_text": "We do not talk about that.", "priority": 1}
    ]
}


TEMPLATE = {
    "intent_code": "HOURS", "state_code": "ANY", "response_type": "TEXT", "system_prompt": "Be kind.",
    "user_prompt": "{{ user_input }}",
}  # fmt: skip
#: An intent with an answer and nothing else.
HOURS = {
    "ce_intent": [{"intent_code": "HOURS", "description": "Opening hours"}],
    "ce_intent_classifier": [
        {"intent_code": "HOURS", "state_code": "READY", "rule_type": "PHRASE", "pattern": "opening hours"}
    ],
}


def make_answer(state: str, text: str, intent: str = "ANY", **values: Any) -> dict[str, Any]:
    return {"intent_code": intent, "state_code": state, "response_type": "EXACT", "exact_text": text} | values


def test_nothing_took_the_message_up() -> None:
    caller = make_caller()

    answer = caller.say(NONSENSE)

    assert get_text(answer).startswith(PARDON)
    event = find_event(caller, 1, "NOT_UNDERSTOOD")
    assert (event["count"], event["asked_field"]) == (1, None)


def test_inside_a_form_the_event_names_the_asked_field() -> None:
    caller = make_caller()
    say(caller, "book an appointment", "Ann Bell", NONSENSE)

    assert find_event(caller, 3, "NOT_UNDERSTOOD")["asked_field"] == "guests"


@pytest.mark.parametrize(
    ("before", "text", "rows"),
    [
        pytest.param([], "book an appointment", {}, id="a phrase gave the intent"),
        pytest.param(["what are your prices?"], "what are your prices?", {}, id="the same intent again was given"),
        pytest.param(["book an appointment"], "Ann Bell", {}, id="a field was read"),
        pytest.param(["book an appointment", "Ann Bell"], "99", {}, id="a field was refused"),
        pytest.param(
            [], NONSENSE, {
                "ce_rule": [{**RULE, "action": "SET_STATE", "action_value": "SEEN"}],
                "ce_response": [make_answer("SEEN", "I see.")],
            },
            id="a rule changed the state",
        ),
        pytest.param(
            [], NONSENSE, {"ce_rule": [{**RULE, "action": "SET_INTENT", "action_value": "DENTIST_Q1"}]},
            id="a rule changed the intent",
        ),
        pytest.param([], NONSENSE, TOOL, id="a tool answered"),
        pytest.param(["book an appointment"], "what are your prices?", {}, id="a digression took place"),
        pytest.param([], NONSENSE, POLICY, id="a policy took place"),
        pytest.param(["book an appointment", "Ann Bell"], "start over", {}, id="a reset took place"),
        pytest.param(
            ["book an appointment", "Ann Bell"], "no, my name is Bob Hill", {}, id="a correction took place"
        ),
        pytest.param([], "hello", {}, id="the message is a greeting"),
        pytest.param([], "thanks", {}, id="the message is a thank-you"),
        pytest.param(
            ["book an appointment", "Ann Bell"], "cancel", {}, id="a reply override asks whether to leave the form"
        ),
    ],
)  # fmt: skip
def test_the_message_is_understood(before: list[str], text: str, rows: dict[str, Any]) -> None:
    caller = make_caller(DENTIST, rows=rows)
    say(caller, *before, text)

    assert "NOT_UNDERSTOOD" not in caller.stages(len(before) + 1)


def test_a_clarification_goes_before_it() -> None:
    twin = {**DENTIST, "code": "VET", "title": "Vet", "questions_and_answers": [], "phrases": ["book an appointment"]}
    caller = make_caller(DENTIST, twin)

    answer = caller.say("book an appointment")

    assert answer["state"] == "INTENT_COLLISION"
    assert "NOT_UNDERSTOOD" not in caller.stages(1)


def test_an_answer_that_a_model_writes_understands_everything() -> None:
    derived = make_answer(
        "READY", "", "HOURS", response_type="DERIVED", exact_text=None, derivation_hint="Be kind.", output_format="TEXT"
    )
    caller = make_caller(DENTIST, rows={**HOURS, "ce_response": [derived], "ce_prompt_template": [TEMPLATE]})

    with answer_by_model(INTENT_AGENT={}, RESPONSE_TEXT="Nine to five."):
        say(caller, "opening hours", NONSENSE)

    assert "NOT_UNDERSTOOD" not in caller.stages(2)


def test_the_facts_say_that_it_was_not_understood_and_how_often() -> None:
    rows = {"ce_response": [make_answer("NOT_UNDERSTOOD", "{{ not_understood }} {{ not_understood_count }}")]}
    caller = make_caller(DENTIST, rows=rows)

    assert [get_text(caller.say(NONSENSE)) for _ in range(2)] == ["true 1", "true 2"]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        pytest.param([("DENTIST", "Which day?"), ("ANY", "Pardon?")], "Which day?", id="the intent's own answer first"),
        pytest.param([("ANY", "Pardon?")], "Pardon?", id="then that of every intent"),
    ],
)
def test_its_answer_is_looked_up(rows: list[tuple[str, str]], text: str) -> None:
    answers = [make_answer("NOT_UNDERSTOOD", text, intent) for intent, text in rows]
    caller = make_caller(DENTIST, rows={"ce_response": answers})

    hold(caller, ("book an appointment", "COLLECT", ASK_NAME), ("what?", "COLLECT", text))


def test_intent_and_state_stay_and_the_answer_may_repeat_the_question() -> None:
    rows = {"ce_response": [make_answer("NOT_UNDERSTOOD", "Hm. {{ question }}")]}
    caller = make_caller(DENTIST, rows=rows)

    answer = say(caller, "book an appointment", "Ann Bell", NONSENSE)

    assert (answer["intent"], answer["state"]) == ("DENTIST", "COLLECT")
    assert get_text(answer).startswith("Hm. ")
    assert get_text(answer).endswith(ASK_GUESTS)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        pytest.param("I like trains", CHECK, id="what can be no value of the form"),
        # A yes to the repeated confirmation would be for the other name.
        pytest.param("maybe zoltan", "What should I change: name or number of persons?", id="what may be another name"),
    ],
)
def test_at_a_confirmation_the_confirmation_is_repeated(text: str, question: str) -> None:
    caller = make_caller(DENTIST, rows={"ce_response": [make_answer("NOT_UNDERSTOOD", "{{ question }}")]})
    reach_confirmation(caller)

    hold(caller, (text, "CONFIRM", f"{PARDON} {question}"))
    assert "NOT_UNDERSTOOD" in caller.stages(4)


def test_where_no_such_answer_is_everything_happens_as_before() -> None:
    caller = make_caller(DENTIST, rows={**HOURS, "ce_response": [make_answer("READY", "Nine to five.", "HOURS")]})

    hold(caller, ("opening hours", "READY", "Nine to five."), (NONSENSE, "READY", "Nine to five."))
    assert "NOT_UNDERSTOOD" in caller.stages(2)


def test_too_many_outside_of_a_form_offer_a_hand_over() -> None:
    rows = {
        "ce_response": [make_answer("NOT_UNDERSTOOD", "Pardon?"), make_answer("HAND_OVER", "A colleague helps.")],
        "ce_config": [make_setting("Form/MAX_MISSES", "2")],
    }
    caller = make_caller(DENTIST, rows=rows)

    assert [get_text(caller.say(NONSENSE)) for _ in range(3)] == ["Pardon?", "A colleague helps.", "Pardon?"]
    assert "HAND_OVER_OFFERED" in caller.stages(2)


@pytest.mark.parametrize(
    ("before", "turn"),
    [pytest.param([], 1, id="outside of forms"), pytest.param(["book an appointment", "Ann Bell"], 3, id="in a form")],
)
def test_the_search_finds_the_turn_by_its_stage(before: list[str], turn: int) -> None:
    caller = make_caller()
    say(caller, *before, NONSENSE)

    assert list_messages_not_understood(10) == [NONSENSE]
    assert caller.get(stage="NOT_UNDERSTOOD").json()["results"][0]["payload"]["_meta"]["turnNo"] == turn
