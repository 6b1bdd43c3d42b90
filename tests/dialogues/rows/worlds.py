"""Flows and rows that the tests of the dialogue's rules talk to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from config_admin.flows.mapping import write_rows
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from config_admin.validation.stored_columns import control_plane
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.server import wiring
from tests.api import Caller
from tests.copied_rows import make_rarely

DENTIST: dict[str, Any] = {
    "code": "DENTIST", "title": "Dentist appointment", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need to see a dentist", "book an appointment"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "guests", "title": "Number of persons", "type": "number", "min": 1, "max": 8},
    ],
    "answer": "Booked for {{ name }}.",
    "questions_and_answers": [
        {"questions": ["what are your prices"], "answer": "80 pounds."},
        {"questions": ["where can I park"], "answer": "Behind the house."},
    ],
}  # fmt: skip
TABLE: dict[str, Any] = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a table"],
    "fields": [{"name": "persons", "title": "Number of guests", "type": "number", "question": "How many guests?"}],
    "answer": "See you.",
}  # fmt: skip
ASK_NAME, ASK_GUESTS = "What is your name?", "Please tell me: number of persons."
CHECK = "Please check: Name: Ann Bell, Number of persons: 2. Is that right?"


def make_caller(*flows: dict[str, Any], rows: dict[str, list[dict[str, Any]]] | None = None) -> Caller:
    """Somebody who talks to these flows, and to more rows by table."""
    make_flows(*(flows or (DENTIST,)))
    if rows:
        with change_set(reason="more rows"):
            for table, values in ((table, values) for table, listed in rows.items() for values in listed):
                control_plane()[table]._default_manager.create(**values)
    return Caller()


@make_rarely
def make_flows(*flows: dict[str, Any]) -> None:
    """The rows of flows."""
    # One release of everything takes a third of the work of three.
    with change_set(reason="begin"):
        for flow in flows:
            add_rows(write_rows(flow), author="ada", reason="begin")


def make_setting(name: str, value: Any) -> dict[str, Any]:
    """A live setting as a row."""
    config_type, key = name.split("/")
    return {"config_type": config_type, "config_key": key, "config_value": value}


def get_text(answer: dict[str, Any]) -> str:
    assert answer["success"], answer
    return str(answer["payload"]["value"])


def say(caller: Caller, *lines: str) -> dict[str, Any]:
    """The answer to the last line."""
    answers = [caller.say(line) for line in lines]
    assert all(answer["success"] for answer in answers), answers
    return answers[-1]


def hold(caller: Caller, *exchanges: tuple[str, str, str]) -> dict[str, Any]:
    """Say each message and expect its state and the beginning of its answer; gives the last answer."""
    answer: dict[str, Any] = {}
    for text, state, expected in exchanges:
        answer = caller.say(text)
        assert (answer["state"], get_text(answer)[: len(expected)]) == (state, expected), text
    return answer


def find_event(caller: Caller, turn: int, stage: str) -> dict[str, Any]:
    """The payload of the last event of this stage in a turn."""
    events = list_events(caller, turn, stage)
    assert events, caller.stages(turn)
    return events[-1]


def list_events(caller: Caller, turn: int, stage: str) -> list[dict[str, Any]]:
    """The payloads of the events of this stage in a turn; that of a rule's stage names its step too."""
    events = caller.get(turn=turn).json()["results"]
    return [dict(event["payload"]) for event in events if event["stage"].partition(" ")[0] == stage]


@contextmanager
def answer_by_model(**answers: Any) -> Iterator[None]:
    """A model that answers each purpose with this JSON, as often as it is asked."""
    lines = [ScriptLine((purpose,), json.dumps(answer)) for purpose, answer in answers.items() for _ in range(20)]
    with wiring.replace_outside_world(wiring.OutsideWorld(model=ScriptedModel(lines))):
        yield
