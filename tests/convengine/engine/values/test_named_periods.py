"""A week or a month that a message names, and the day of it that is said later."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from convengine.engine.values import ReadingSituation, field_spec, read_value
from convengine.engine.values.named_periods import find_named_period

NOW = datetime(2026, 8, 26, 10, tzinfo=UTC)  # A Wednesday.
OCTOBER, NEXT_WEEK = "2026-10-01..2026-10-31", "2026-08-31..2026-09-06"


@pytest.mark.parametrize(
    ("text", "locale", "period"),
    [
        ("looking for a cat sitter in October", "en-GB", OCTOBER),
        ("sometime mid October", "en-GB", OCTOBER),
        ("can you do some time next week", "en-GB", NEXT_WEEK),
        ("ich brauche im Oktober eine Massage", "de-DE", OCTOBER),
        ("irgendwann Anfang Oktober", "de-DE", OCTOBER),
        ("nächste Woche irgendwann", "de-DE", NEXT_WEEK),
        ("not in October", "en-GB", ""),
        ("in October or in November", "en-GB", ""),
        ("on the 5th of October", "en-GB", ""),
        ("tomorrow", "en-GB", ""),
    ],
)
def test_the_only_period_of_a_message_is_found(text: str, locale: str, period: str) -> None:
    assert find_named_period(text, ReadingSituation(NOW, "Europe/London", locale)) == period


@pytest.mark.parametrize(
    ("known", "text", "locale", "value"),
    [
        (OCTOBER, "the 16th", "en-GB", "2026-10-16"),
        (OCTOBER, "Friday the 16th", "en-GB", "2026-10-16"),
        (OCTOBER, "tomorrow", "en-GB", "2026-08-27"),
        (OCTOBER, "16 September", "en-GB", "2026-09-16"),
        (NEXT_WEEK, "am Freitag", "de-DE", "2026-09-04"),
        (NEXT_WEEK, "am 16.", "de-DE", "2026-09-16"),
        (OCTOBER, "am 3.", "de-DE", "2026-10-03"),
    ],
)
def test_a_bare_day_lies_in_the_named_period(known: str, text: str, locale: str, value: str) -> None:
    situation = replace(ReadingSituation(NOW, "Europe/London", locale, is_asked=True), known_part=known)

    assert read_value(field_spec("day", {"format": "date", "x-min": "today"}), text, situation).value == value


@pytest.mark.parametrize(
    ("known", "text", "value"),
    [
        ("[0-12]", "7 then", "07:00"),
        ("[12-24]", "8 then", "20:00"),
        ("[12-24]", "10 then", "10:00"),
        ("[0-12]", "5 in the afternoon", "17:00"),
    ],
)
def test_an_hour_lies_in_the_half_of_the_day_that_was_named_within_the_bounds(
    known: str, text: str, value: str
) -> None:
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", is_asked=True, known_part=known)
    spec = field_spec("time", {"format": "time", "x-min": "07:00", "x-max": "20:00"})

    assert read_value(spec, text, situation).value == value
