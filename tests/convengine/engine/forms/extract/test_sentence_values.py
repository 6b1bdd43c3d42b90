from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import Extraction, extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/London"))
OPTIONS = [
    {"value": "CLEAN", "label": "Cleaning", "synonyms": ["Zahnreinigung"]},
    {"value": "PAIN", "label": "Pain", "synonyms": ["toothache", "Zahnschmerzen"]},
]
DENTIST: dict[str, Any] = {
    "name": {"type": "string", "title": "Name"},
    "reason": {"type": "string", "x-options": OPTIONS},
    "date": {"type": "string", "format": "date", "x-min": "today", "x-max": "today+90d"},
    "time": {"type": "string", "format": "time", "x-min": "08:00", "x-max": "18:00"},
    "guests": {"type": "integer", "title": "Number of people", "x-labels": ["Personen"], "minimum": 1, "maximum": 8},
    "phone": {"type": "string", "format": "phone", "x-country": "GB"},
    "email": {"type": "string", "format": "email"},
}


def read(
    text: str, *, asked: str | None = None, locale: str = "en-GB", schema: Any = None, missing: Any = None
) -> Extraction:
    form = Form({"type": "object", "properties": schema or DENTIST})
    assert form.problem is None
    return extract(
        form,
        text,
        asked_paths=[asked] if asked else (),
        missing=missing,
        situation=ReadingSituation(NOW, "Europe/London", locale),
    )


def get_values(extraction: Extraction) -> dict[str, Any]:
    return {finding.field: finding.value for finding in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I need a cleaning next Monday at half past four for two people",
         {"reason": "CLEAN", "date": "2026-11-30", "time": "16:30", "guests": 2}),
        ("John Smith, tomorrow at 3, my number is 07700 900123",
         {"date": "2026-11-25", "time": "15:00", "phone": "+447700900123"}),
        ("my name is John Smith and I'd like to come tomorrow", {"name": "John Smith", "date": "2026-11-25"}),
        ("can you fit me in on the 3rd of December? I have a toothache", {"date": "2026-12-03", "reason": "PAIN"}),
        ("how much is it? and tomorrow works", {"date": "2026-11-25"}),
        ("do you have time on Friday?", {"date": "2026-11-27"}),
        ("Monday 10am ann@example.org", {"date": "2026-11-30", "time": "10:00", "email": "ann@example.org"}),
        ("Friday, no, Saturday", {"date": "2026-11-28"}),
    ],
)  # fmt: skip
def test_a_sentence_gives_the_values_of_all_fields_in_it(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("brauche morgen um halb fünf einen Termin", {"date": "2026-11-25", "time": "16:30"}),
        ("ich heiße Paul Klein, Montag 10 Uhr, Zahnreinigung",
         {"name": "Paul Klein", "date": "2026-11-30", "time": "10:00", "reason": "CLEAN"}),
        ("am 5.12. um 17 Uhr für vier Personen", {"date": "2026-12-05", "time": "17:00", "guests": 4}),
        ("ich habe Zahnschmerzen, geht es übermorgen?", {"reason": "PAIN", "date": "2026-11-26"}),
    ],
)  # fmt: skip
def test_a_german_sentence_gives_the_values_of_all_fields_in_it(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, locale="de-DE")) == values


@pytest.mark.parametrize(
    "text",
    ["I can't come on Friday", "it hurt yesterday", "I have no pain", "what day is it today?", "not before Friday",
     "Friday or Saturday", "good morning", "for at least 3 people", "I was there on Monday", "thanks, see you Friday"],
)  # fmt: skip
def test_what_is_denied_asked_or_about_something_else_is_no_value(text: str) -> None:
    assert get_values(read(text)) == {}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("John Smith, tomorrow at 3pm", "en-GB", {"name": "John Smith", "date": "2026-11-25", "time": "15:00"}),
        ("John Smith tomorrow at 3pm please", "en-GB", {"name": "John Smith", "date": "2026-11-25", "time": "15:00"}),
        ("I need a cleaning tomorrow", "en-GB", {"reason": "CLEAN", "date": "2026-11-25"}),
        ("under Miller", "en-GB", {"name": "Miller"}),
        ("ich brauche einen Termin am Freitag", "de-DE", {"date": "2026-11-27"}),
        ("Anna Meier, am Freitag um 9 Uhr", "de-DE", {"name": "Anna Meier", "date": "2026-11-27", "time": "09:00"}),
        ("nein Dienstag", "de-DE", {}),
        ("yes thats right", "en-GB", {}),
        ("das stimmt", "de-DE", {}),
    ],
)
def test_the_asked_name_is_what_no_other_field_takes(text: str, locale: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, asked="name", locale=locale)) == values


def test_an_answer_with_more_gives_the_asked_field_and_the_others() -> None:
    assert get_values(read("the 3rd, for a cleaning", asked="date")) == {"date": "2026-12-03", "reason": "CLEAN"}


def test_a_field_with_a_value_keeps_it() -> None:
    assert get_values(read("Tuesday at 3pm for a cleaning", missing=["time"])) == {"time": "15:00"}


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("a cleaning on 30 February", "date", "INVALID_DATE"),
        ("a cleaning on 2019-12-01", "date", "OUT_OF_BOUNDS"),
        ("the date is 1 December 2019", "date", "OUT_OF_BOUNDS"),
        ("I could come tomorrow at 7pm", "time", "OUT_OF_BOUNDS"),
        ("tomorrow or rather on Friday", "date", None),
        ("next friday at 3pm", "date", "AMBIGUOUS"),
    ],
)
def test_a_value_that_is_refused_says_why(text: str, field: str, reason: str | None) -> None:
    reasons = {finding.field: finding.reason for finding in read(text).rejected}

    assert reasons.get(field) == reason


def test_two_values_of_one_field_are_asked_back() -> None:
    (refused,) = read("tomorrow with my wife, we also come Friday").rejected

    assert (refused.field, refused.reason) == ("date", "AMBIGUOUS")
    assert refused.data["candidates"] == ["2026-11-25", "2026-11-27"]


STAY = {"arrival": {"title": "Check-in", "format": "date"}, "departure": {"title": "Check-out", "format": "date"}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("check-in on Friday, check-out on Sunday", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
        ("check-out tomorrow", {"departure": "2026-11-25"}),
        ("I come on Friday", {}),
    ],
)
def test_a_value_that_two_fields_could_take_goes_to_the_one_that_is_named(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=STAY)) == values


def test_a_value_that_two_fields_could_take_goes_to_the_one_that_was_asked_for() -> None:
    assert get_values(read("I come on Friday", schema=STAY, asked="arrival")) == {"arrival": "2026-11-27"}


def test_a_text_after_its_label_ends_before_the_next_value() -> None:
    assert get_values(read("name: Ann Lee, tomorrow at 3pm")) == {
        "name": "Ann Lee", "date": "2026-11-25", "time": "15:00",
    }  # fmt: skip


def test_positions_are_those_of_the_message_also_with_separate_accents() -> None:
    text = "Cafe\u0301 tomorrow"
    (finding,) = read(text).extracted

    assert text[slice(*finding.span)] == "tomorrow"


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("from Friday to Sunday", "en-GB", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
        ("from 4 December until 7 December", "en-GB", {"arrival": "2026-12-04", "departure": "2026-12-07"}),
        ("von Freitag bis Sonntag", "de-DE", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
    ],
)
def test_a_range_gives_two_fields_their_values(text: str, locale: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=STAY, locale=locale)) == values


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("a room with breakfast", "en-GB", True), ("without breakfast please", "en-GB", False),
     ("mit Frühstück", "de-DE", True), ("ein Zimmer ohne Frühstück", "de-DE", False),
     ("do you have rooms with breakfast?", "en-GB", None), ("the breakfast", "en-GB", None)],
)  # fmt: skip
def test_with_and_without_answer_a_yes_or_no_field(text: str, locale: str, value: bool | None) -> None:
    schema = {"breakfast": {"type": "boolean", "title": "Breakfast", "x-labels": ["Frühstück"]}}

    assert get_values(read(text, schema=schema, locale=locale)).get("breakfast") is value


def test_a_bare_yes_is_no_answer_for_another_field() -> None:
    schema = {**STAY, "breakfast": {"type": "boolean"}}

    assert get_values(read("yes please", schema=schema, asked="arrival")) == {}
