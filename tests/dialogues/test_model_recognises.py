"""A message that only the model recognises begins its flow where the flow's own phrases begin it."""

from typing import Any, NamedTuple

import pytest

from config_admin import models as m
from config_admin.flows.document import FlowKind
from config_admin.releases.change_set import change_set
from tests.dialogues.beside_model import talk_beside_model

pytestmark = pytest.mark.django_db
SAY = "frobnicate the quux gently"
BASE = {"code": "WISH", "title": "A wish", "locale": "en-GB", "phrases": ["make me a wish"], "answer": "It is so."}
NAME = {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"}
DAY = {"name": "day", "title": "Day", "type": "date", "question": "Which day?"}
NICK = {"name": "nick", "title": "Nickname", "type": "text", "required": False}


class Case(NamedTuple):
    """A flow, and the state and answer after a message that only the model recognises."""

    name: str
    flow: dict[str, Any]
    state: str
    answer: str
    #: The intent that the model names.
    intent: str = "WISH"


CASES = (
    Case("an answer", {"kind": "answer"}, "IDLE", "It is so."),
    Case("a form", {"kind": "collect", "fields": [NAME, DAY]}, "COLLECT", "What is your name?"),
    Case("a form that asks for all at once", {"kind": "collect", "fields": [NAME, DAY], "ask_mode": "ALL"}, "COLLECT",
         "Please tell me: name and day."),
    Case("a form of a choice", {"kind": "collect", "fields": [
        {"name": "seat", "title": "Seat", "type": "choice", "question": "Which seat?",
         "options": [{"value": "Aisle"}, {"value": "Window"}]}
    ]}, "COLLECT", "Which seat?"),
    Case("a form with only an optional field", {"kind": "collect", "fields": [NICK], "confirmation": "Shall I go on?"},
         "CONFIRM", "Shall I go on?"),
    Case("a lookup", {"kind": "lookup", "fields": [NAME], "tool": "clock.now"}, "COLLECT", "What is your name?"),
    Case("a lookup with an empty list of fields", {"kind": "lookup", "fields": [], "tool": "clock.now"}, "DONE",
         "It is so."),
    Case("a lookup without fields", {"kind": "lookup", "tool": "clock.now"}, "DONE", "It is so."),
    Case("a hand-over", {"kind": "handover"}, "HAND_OVER", "It is so."),
    Case("a question beside a form", {"kind": "collect", "fields": [NAME], "questions_and_answers": [
        {"questions": ["what does it cost"], "answer": "It is free."}
    ]}, "IDLE", "It is free.", intent="WISH_Q1"),
)  # fmt: skip


def test_every_kind_of_flow_has_a_case() -> None:
    assert {case.flow["kind"] for case in CASES} == {kind.value for kind in FlowKind}


@pytest.mark.parametrize("names_state", ["", "IDLE", "DONE", "COLLECT"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_flow_begins_where_the_configuration_says_whatever_state_the_model_names(
    case: Case, names_state: str
) -> None:
    make_tool()
    answers = [
        {"dialogueAct": "NEW_REQUEST", "confidence": 0.9},
        {"intent": case.intent, "state": names_state, "confidence": 0.9, "intentScores": []},
    ]
    with talk_beside_model({**BASE, **case.flow}, *answers) as (caller, _):
        said = caller.say(SAY)

    assert said["success"], said
    assert (said["intent"], said["state"]) == (case.intent, case.state)
    assert case.answer in said["payload"]["value"]


def test_the_values_of_the_message_that_the_model_recognised_go_into_the_form() -> None:
    answers = [{"dialogueAct": "NEW_REQUEST", "confidence": 0.9}, {"intent": "WISH", "confidence": 0.9}, {}]
    with talk_beside_model({**BASE, "kind": "collect", "fields": [DAY, NAME]}, *answers) as (caller, _):
        said = caller.say(f"{SAY} tomorrow")

    given, answer = said["context"]["day"], said["payload"]["value"]
    assert (given, answer) == ("2026-11-24", "Tuesday 24 November 2026. What is your name?")


def test_a_form_that_is_done_begins_again_when_the_model_recognises_it_again() -> None:
    act, wish = {"dialogueAct": "NEW_REQUEST", "confidence": 0.9}, {"intent": "WISH", "confidence": 0.9}
    flow = {**BASE, "kind": "collect", "fields": [DAY]}
    with talk_beside_model(flow, act, wish, {}, act, wish, {}) as (caller, _):
        assert [caller.say(text)["state"] for text in (SAY, "tomorrow", "yes")] == ["COLLECT", "CONFIRM", "DONE"]
        said = caller.say(SAY)

    assert (said["state"], said["context"].get("day")) == ("COLLECT", None)


def make_tool() -> None:
    with change_set():
        m.CeMcpTool.objects.create(
            tool_code="clock.now", tool_group="CALCULATOR_TRANSFORM", intent_code="WISH", state_code="DONE",
            description="tells the time", input_schema={"type": "object", "properties": {"name": {"type": "string"}}},
        )  # fmt: skip


def test_a_lookup_without_fields_calls_its_tool_once_for_each_wish() -> None:
    make_tool()
    flow = {**BASE, "kind": "lookup", "tool": "clock.now"}
    with talk_beside_model(flow, {}) as (caller, _):
        answers = [caller.say(text) for text in ("make me a wish", "blah", "thanks", "make me a wish")]

    calls = ["TOOL_ORCHESTRATION_REQUEST" in caller.stages(number) for number in range(1, 5)]
    assert calls == [True, False, False, True]
    assert [answer["payload"]["value"] for answer in (answers[0], answers[3])] == ["It is so."] * 2
