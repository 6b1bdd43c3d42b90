from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract.only_part import read_only_part, refuses_value
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

FORM = Form(
    {
        "type": "object",
        "required": ["day", "time", "start", "name"],
        "properties": {
            "day": {"type": "string", "format": "date", "title": "Day", "x-min": "today+1d"},
            "time": {"type": "string", "format": "time", "title": "Time", "x-max": "17:00"},
            "start": {"type": "string", "format": "date-time", "title": "Start"},
            "name": {"type": "string", "title": "Name"},
            "phone": {"type": "string", "format": "phone", "title": "Phone"},
            "insured": {"type": "boolean", "title": "Insured"},
            "guests": {"type": "integer", "title": "Guests", "minimum": 1},
            "note": {"type": "string", "title": "Note", "x-long": True},
        },
    }
)
#: A Tuesday.
NOW = datetime(2026, 10, 6, 9, tzinfo=UTC)


def make_situation(locale: str) -> ReadingSituation:
    return ReadingSituation(NOW, "Europe/London", locale)


def read(path: str, text: str, locale: str) -> tuple[Any, str | None]:
    """The value, and the reason of a refusal."""
    field = FORM.field(path)
    assert field
    extraction = read_only_part(FORM, field, text, make_situation(locale))
    assert {item.field for item in (*extraction.extracted, *extraction.rejected)} <= {path}
    return (
        next((item.value for item in extraction.extracted), None),
        next((item.reason for item in extraction.rejected), None),
    )


@pytest.mark.parametrize(
    ("path", "text", "locale", "value"),
    [
        ("day", "not this week. wednesday next week", "en-GB", "2026-10-14"),
        ("day", "the kids are with their gran so thursday is when I'm free", "en-GB", "2026-10-08"),
        ("day", "nicht am Montag! Donnerstag ist mein freier Tag", "de-DE", "2026-10-08"),
        ("time", "school finishes early that day so 2pm", "en-GB", "14:00"),
        ("time", "da muss ich den Bus nehmen also 14 Uhr", "de-DE", "14:00"),
        ("start", "not thursday, friday 3pm beats it", "en-GB", "2026-10-09T15:00:00+01:00"),
        ("guests", "two hundred, his dad has 9 brothers", "en-GB", 200),
        ("guests", "70. meine Tante lädt das halbe Dorf ein", "de-DE", 70),
    ],
)
def test_the_only_part_that_is_a_value_is_the_answer(path: str, text: str, locale: str, value: str) -> None:
    assert read(path, text, locale) == (value, None)


@pytest.mark.parametrize(
    ("path", "text", "locale"),
    [
        ("day", "monday or tuesday, both suit", "en-GB"),
        ("day", "if it stays dry then thursday", "en-GB"),
        ("day", "let me see whether thursday is free", "en-GB"),
        ("day", "are you there on thursday", "en-GB"),
        ("day", "am Donnerstag? da hat mein Bruder frei", "de-DE"),
        ("day", "there are 5 in the family", "en-GB"),
        ("day", "montag oder dienstag passt", "de-DE"),
        ("time", "we only ever manage after 3pm", "en-GB"),
        ("time", "she is 4", "en-GB"),
        ("insured", "that is thursday", "en-GB"),
        ("day", "anything but thursday", "en-GB"),
        ("day", "any day but thursday", "en-GB"),
        ("guests", "40, or 50 with the neighbours", "en-GB"),
        ("guests", "between 4 and 6", "en-GB"),
        ("guests", "zwischen 4 und 6", "de-DE"),
        ("day", "ich bin am 3. Mai 1980 geboren", "de-DE"),
        ("day", "my wife is away until the 20th", "en-GB"),
        ("day", "we were there on Monday, it was lovely", "en-GB"),
        ("day", "my birthday is on 3 November, so not then", "en-GB"),
        ("note", "nee danke, schönen Abend noch", "de-DE"),
    ],
)
def test_what_may_mean_something_else_is_no_answer(path: str, text: str, locale: str) -> None:
    assert read(path, text, locale) == (None, None)


def test_the_only_value_is_refused_outside_of_its_bounds() -> None:
    assert read("day", "my leg is playing up so this morning", "en-GB") == (None, "OUT_OF_BOUNDS")


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("no I'd rather not be phoned", "en-GB"),
        ("rather not say", "en-GB"),
        ("we don't do phones in this house", "en-GB"),
        ("nein, ich will nicht angerufen werden", "de-DE"),
        ("das geht keinen was an", "de-DE"),
    ],
)
def test_a_denial_that_gives_nothing_leaves_an_optional_field_empty(text: str, locale: str) -> None:
    field = FORM.field("phone")
    assert field

    assert refuses_value(text, field, FORM, make_situation(locale))


@pytest.mark.parametrize(
    ("path", "text", "locale"),
    [
        ("phone", "no, 020 7946 0018", "en-GB"),
        ("phone", "why not by mail?", "en-GB"),
        ("phone", "not sure which one works", "en-GB"),
        ("phone", "moment, ich finde das Handy nicht", "de-DE"),
        ("phone", "the old one", "en-GB"),
        ("insured", "we have no car", "en-GB"),
        ("phone", "I don't understand", "en-GB"),
        ("phone", "das verstehe ich nicht", "de-DE"),
        ("phone", "no that is wrong", "en-GB"),
        ("phone", "das stimmt nicht", "de-DE"),
        ("phone", "you don't listen", "en-GB"),
        ("phone", "I don't think Thursday works", "en-GB"),
        ("phone", "never mind the guests", "en-GB"),
    ],
)
def test_other_answers_leave_a_field_open(path: str, text: str, locale: str) -> None:
    field = FORM.field(path)
    assert field

    assert not refuses_value(text, field, FORM, make_situation(locale))
