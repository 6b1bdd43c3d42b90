"""How often a turn asks the model, and how much it shows it: what rules have answered costs nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.test import override_settings

from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.server import wiring
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.connections import read_connections
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.dialogues.beside_model import CLOCK
from tests.dialogues.play import store_flows
from tests.fakes.openai_server import ModelServer, Says, model_server

pytestmark = pytest.mark.django_db
HOURS = {
    "code": "HOURS", "title": "Opening hours", "kind": "answer", "phrases": ["when are you open", "opening hours"],
    "answer": "From nine to five.",
}  # fmt: skip
VISIT = {
    "code": "VISIT", "title": "Book a visit", "kind": "collect", "locale": "en-GB",
    "phrases": ["book a visit", "I want a visit"],
    "fields": [
        {"name": "day", "title": "Day", "type": "date", "question": "Which day?"},
        {"name": "persons", "title": "Persons", "type": "number", "min": 1, "max": 9, "question": "How many persons?"},
    ],
    "confirmation": "Shall I book it?", "answer": "Booked.",
}  # fmt: skip
SUM = {
    "code": "SUM", "title": "Add up", "kind": "lookup", "phrases": ["add something up"],
    "fields": [{"name": "expression", "title": "the sum", "type": "text", "question": "Which sum?"}],
    "tool": "shop.sum", "answer": "It is {{ tool_result.result.value }}.",
}  # fmt: skip
PERSON = {
    "code": "PERSON", "title": "A person", "kind": "handover", "phrases": ["talk to a person"], "answer": "One moment.",
}  # fmt: skip
FLOWS = (HOURS, VISIT, SUM, PERSON)


class Turn(NamedTuple):
    """What the user said before, what the user says, and what that costs."""

    before: tuple[str, ...]
    say: str
    calls: int
    #: The greatest size of all its prompts.
    most_characters: int
    #: The intent and state after it.
    ends: tuple[str, str]


FORM = ("book a visit", "tomorrow")
IDLE, CONFIRM = ("HOURS", "IDLE"), ("VISIT", "CONFIRM")
TURNS = (
    Turn((), "hello", 1, 1_100, IDLE),
    Turn((), "when are you open", 0, 0, IDLE),
    Turn((), "could you tell me your opening hours please", 0, 0, IDLE),
    Turn((), "is it worth coming by at seven in the evening", 1, 1_000, IDLE),
    Turn((), "book a visit", 0, 0, ("VISIT", "COLLECT")),
    Turn(("book a visit",), "tomorrow", 0, 0, ("VISIT", "COLLECT")),
    Turn(("book a visit",), "maybe Friday", 1, 1_400, ("VISIT", "COLLECT")),
    Turn((*FORM, "3"), "yes", 0, 0, ("VISIT", "DONE")),
    Turn((*FORM, "3"), "that would suit us down to the ground", 1, 1_600, CONFIRM),
    Turn(("add something up",), "2+3", 0, 0, ("SUM", "DONE")),
)


def reply(body: dict[str, Any]) -> Says:
    """What a good model says to each of the engine's questions."""
    asked = set(((body.get("response_format") or {}).get("json_schema") or {}).get("schema", {}).get("properties", {}))
    is_yes = "suit us" in body["messages"][-1]["content"]
    scores = [] if is_yes else [{"intent": "HOURS", "confidence": 0.9}]
    answers: dict[str, Any] = {
        "dialogueAct": "AFFIRM" if is_yes else "QUESTION",
        "confidence": 0.9,
        "standaloneQuery": "",
        "intent": "" if is_yes else "HOURS",
        "intentScores": scores,
        "action": "ANSWER",
        "answer": "",
    }
    return Says(json.dumps({name: value for name, value in answers.items() if name in asked}))


@contextmanager
def talk() -> Iterator[tuple[Caller, ModelServer]]:
    with change_set():
        m.CeMcpTool.objects.create(
            tool_code="shop.sum", tool_group="CALCULATOR_TRANSFORM", intent_code="ANY", state_code="ANY",
            description="adds", input_schema={"type": "object", "properties": {"expression": {"type": "string"}}},
        )  # fmt: skip
    store_flows({"time_zone": "Europe/London", "locale": "en-GB", "flows": FLOWS})
    with model_server(by=reply) as server:
        reached = wiring.make_model_client(read_connections({"desk": {"base_url": server.url, "models": ["small"]}}))
        clock = override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": CLOCK})
        with wiring.replace_outside_world(OutsideWorld(Registry(), reached)), clock:
            yield Caller(), server
        reached.close()


@pytest.mark.parametrize("turn", TURNS, ids=[turn.say for turn in TURNS])
def test_a_turn_asks_the_model_only_what_rules_leave_open(turn: Turn) -> None:
    with talk() as (caller, server):
        for text in turn.before:
            assert caller.say(text)["success"]
        server.requests.clear()
        answer = caller.say(turn.say)

    prompts = [part["content"] for request in server.requests for part in request["messages"]]
    assert (answer["intent"], answer["state"]) == turn.ends
    assert (len(server.requests), sum(map(len, prompts)) <= turn.most_characters) == (turn.calls, True)


def test_a_prompt_has_each_thing_once() -> None:
    with talk() as (caller, server):
        for text in (*FORM, "3"):
            caller.say(text)
        server.requests.clear()
        caller.say("could we come by bus")

    (request,) = server.requests
    prompt = "\n".join(part["content"] for part in request["messages"])
    for thing in ("could we come by bus", "Opening hours", "HOURS", "Which day?", "How many persons?"):
        assert prompt.count(thing) == 1, thing
