"""Dialogue 10: what keys of a flow document do that no conversation beside this file tells."""

from typing import Any

import pytest

from config_admin.flows.document import FlowRefused, get_flow_schema
from config_admin.flows.mapping import write_rows
from config_admin.models import CeIntent
from tests.dialogues.rows.worlds import get_text, hold, make_caller, say

pytestmark = pytest.mark.django_db

BASE = {"code": "ROOM", "title": "Book a room", "kind": "collect", "phrases": ["book a room"], "answer": "Noted."}
#: What the first and the last part of a type's row in the document says: settings of the field, an answer, its value.
FIELD_TYPES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "text": ({}, "by the window", "window"),
    "short_text": ({}, "it's head of sales", "head of sales"),
    "long_text": ({}, "by the window, if there is one", "by the window, if there is one"),
    "choice": (
        {"options": [{"value": "S", "label": "single", "synonyms": ["one bed"]}, {"value": "D"}]},
        "one bed",
        "S",
    ),
    "date": ({}, "3 December 2030", "2030-12-03"),
    "time": ({}, "16:30", "16:30"),
    "datetime": ({}, "3 December 2030 at 16:30", "2030-12-03T16:30:00+00:00"),
    "duration": ({}, "two weeks", "P2W"),
    "number": ({}, "a dozen", 12),
    "money": ({"currency": "GBP"}, "£1,200.50", 1200.5),
    "phone": ({"country": "GB"}, "020 7946 0018", "+442079460018"),
    "email": ({}, "ann@example.com", "ann@example.com"),
    "postcode": ({"country": "GB"}, "sw1a 1aa", "SW1A 1AA"),
    "iban": ({}, "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    "yes_no": ({}, "yes please", True),
    "pattern": ({"pattern": "[A-Z]{2}-[0-9]{3}"}, "it's ab-123", "AB-123"),
    "finder": ({"finder": "person"}, "it's Ann Hill", "Ann Hill"),
}


def make_room(field: dict[str, Any] | None = None, **keys: Any) -> Any:
    fields = [{"name": "value", "title": "Value", "type": "text", "question": "Which value?", **(field or {})}]
    return make_caller({**BASE, "locale": "en-GB", "fields": fields, **keys})


def test_every_type_of_field_has_its_row() -> None:
    fields = get_flow_schema()["properties"]["fields"]["items"]["properties"]

    assert set(FIELD_TYPES) == set(fields["type"]["enum"])


@pytest.mark.parametrize("field_type", FIELD_TYPES)
def test_a_field_of_each_type_is_read_as_people_say_it(field_type: str) -> None:
    settings, text, value = FIELD_TYPES[field_type]
    caller = make_room({"type": field_type, **settings})

    answer = say(caller, "book a room", text)

    assert (answer["state"], answer["context"].get("value")) == ("CONFIRM", value), get_text(answer)


@pytest.mark.parametrize(
    ("field", "text", "answer"),
    [
        pytest.param({}, "", "Which value?", id="question"),
        pytest.param({"again": "Once more?", "type": "number"}, "hm", "Once more?", id="again"),
        pytest.param(
            {"type": "number", "max": 8, "invalid": "Not {{ value }}, at most {{ max }}."}, "9", "Not 9, at most 8.",
            id="invalid",
        ),
        pytest.param({"type": "number", "min": 2}, "1", "", id="min"),
        pytest.param({"type": "number", "max": 8}, "9", "", id="max"),
        pytest.param({"type": "date", "max": "today+90d"}, "3 December 2099", "", id="a bound that counts from today"),
        pytest.param({"type": "time", "min": "09:00", "max": "18:00"}, "20:00", "", id="a bound of a time"),
    ],
)  # fmt: skip
def test_a_key_of_a_field_says_what_is_asked_or_refused(field: dict[str, Any], text: str, answer: str) -> None:
    caller = make_room(field)

    given = say(caller, "book a room", *([text] if text else []))

    assert (given["state"], given["context"].get("value")) == ("COLLECT", None)
    assert answer in get_text(given)


@pytest.mark.parametrize(("text", "value"), [("2", 2), ("8", 8)])
def test_both_ends_of_bounds_are_included(text: str, value: int) -> None:
    answer = say(make_room({"type": "number", "min": 2, "max": 8}), "book a room", text)

    assert answer["context"]["value"] == value


def test_required_false_lets_a_field_be_skipped() -> None:
    answer = say(make_room({"required": False}), "book a room", "skip")

    assert answer["state"] == "CONFIRM"


TWO = [
    {"name": "first", "title": "First", "type": "number", "question": "First?"},
    {"name": "second", "title": "Second", "type": "date", "question": "Second?"},
]


@pytest.mark.parametrize(
    ("keys", "exchanges"),
    [
        pytest.param(
            {"fields": TWO, "ask_mode": "ONE"}, [("book a room", "COLLECT", "First?"), ("2", "COLLECT", "Second?")],
            id="ask_mode ONE asks one by one",
        ),
        pytest.param(
            {"fields": TWO, "ask_mode": "ALL"}, [("book a room", "COLLECT", "Please tell me")],
            id="ask_mode ALL asks for all at once",
        ),
        pytest.param(
            {"locale": "de-DE", "phrases": ["Ich möchte ein Zimmer"]},
            [("ein Zimmer bitte", "COLLECT", ""), ("blau", "CONFIRM", "Bitte prüfen Sie: Value: blau")],
            id="locale is the language of its texts",
        ),
    ],
)  # fmt: skip
def test_a_key_of_the_document(keys: dict[str, Any], exchanges: list[tuple[str, str, str]]) -> None:
    hold(make_room(**keys), *exchanges)


def test_the_locale_reads_first_in_its_language_and_then_in_that_of_the_conversation() -> None:
    caller = make_room({"type": "date"}, locale="de-DE")

    assert say(caller, "book a room", "3. Dezember 2030")["context"]["value"] == "2030-12-03"


@pytest.mark.parametrize("key", ["code", "title", "kind", "phrases", "answer"])
def test_a_required_key_may_not_be_missing(key: str) -> None:
    with pytest.raises(FlowRefused, match=key):
        write_rows({name: value for name, value in {**BASE, "kind": "answer"}.items() if name != key})


def test_only_the_required_keys_make_a_flow() -> None:
    caller = make_caller({**BASE, "kind": "answer"})

    assert get_text(caller.say("book a room")) == "Noted."
    assert CeIntent.objects.get(pk="ROOM").display_name == "Book a room"
