"""Options that are lengths, said in another way, and beside a day and a time."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation, Reason, field_spec, read_value

NOW = datetime(2026, 11, 12, 10, tzinfo=UTC)  # A Thursday.


def make_lengths(*labels: str) -> dict[str, Any]:
    return {
        "type": "string",
        "title": "Length",
        "x-options": [{"value": label[:2], "label": label} for label in labels],
    }


ENGLISH = make_lengths("30 minutes", "60 minutes", "90 minutes")
GERMAN = make_lengths("30 Minuten", "60 Minuten", "90 Minuten")


@pytest.mark.parametrize(
    ("declared", "text", "locale", "value"),
    [
        (ENGLISH, "an hour", "en-GB", "60"),
        (ENGLISH, "1h please", "en-GB", "60"),
        (ENGLISH, "half an hour should do", "en-GB", "30"),
        (ENGLISH, "an hour and a half", "en-GB", "90"),
        (ENGLISH, "1.5 hours", "en-GB", "90"),
        (ENGLISH, "90", "en-GB", "90"),
        (ENGLISH, "sixty", "en-GB", "60"),
        (GERMAN, "ne Stunde", "de-DE", "60"),
        (GERMAN, "lieber ne halbe Stunde", "de-DE", "30"),
        (GERMAN, "eineinhalb Stunden", "de-DE", "90"),
        (GERMAN, "1,5 h", "de-DE", "90"),
        (GERMAN, "eine Std", "de-DE", "60"),
    ],
)
def test_another_way_of_saying_a_length_names_the_option(
    declared: dict[str, Any], text: str, locale: str, value: str
) -> None:
    reading = read_value(field_spec("length", declared), text, ReadingSituation(NOW, locale=locale, is_asked=True))

    assert reading.value == value


@pytest.mark.parametrize(("declared", "text", "locale"), [(ENGLISH, "two hours", "en-GB"), (GERMAN, "2 Std", "de-DE")])
def test_a_length_that_no_option_has_is_refused(declared: dict[str, Any], text: str, locale: str) -> None:
    reading = read_value(field_spec("length", declared), text, ReadingSituation(NOW, locale=locale, is_asked=True))

    assert reading.reason is Reason.NOT_AN_OPTION


@pytest.mark.parametrize(
    ("declared", "text", "locale", "values"),
    [
        (GERMAN, "brauche ne Massage am Dienstag um 10 für 90 min", "de-DE", ("2026-11-17", "10:00", "90")),
        (GERMAN, "mo 14 Uhr, 1 Stunde", "de-DE", ("2026-11-16", "14:00", "60")),
        (GERMAN, "Massage Dienstag 10 Uhr, 30 Minuten", "de-DE", ("2026-11-17", "10:00", "30")),
        (GERMAN, "ne halbe Stunde am Mittwoch um halb 3", "de-DE", ("2026-11-18", "14:30", "30")),
        (ENGLISH, "a massage mon 2pm, 1h", "en-GB", ("2026-11-16", "14:00", "60")),
        (ENGLISH, "tomorrow at 3pm for half an hour", "en-GB", ("2026-11-13", "15:00", "30")),
        (ENGLISH, "sat 10am 60 min please", "en-GB", ("2026-11-14", "10:00", "60")),
    ],
)
def test_day_time_and_length_are_read_in_one_message(
    declared: dict[str, Any], text: str, locale: str, values: tuple[str, str, str]
) -> None:
    day, time = (
        {"type": "string", "format": "date"},
        {"type": "string", "format": "time", "x-min": "08:00", "x-max": "20:00"},
    )
    form = Form({"type": "object", "properties": {"day": day, "time": time, "length": declared}})
    extraction = extract(form, text, situation=ReadingSituation(NOW, "Europe/Berlin", locale))

    assert tuple(item.value for item in extraction.extracted) == values
