"""A value that a message takes back before it goes on."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import FieldSpec, Kind, ReadingSituation
from convengine.engine.values.retractions import blank_taken_back

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SPECS = [
    FieldSpec("guests", Kind.NUMBER, json_type="integer"),
    FieldSpec("day", Kind.DATE),
    FieldSpec("time", Kind.TIME),
    FieldSpec("length", Kind.DURATION),
    FieldSpec("crib", Kind.YES_NO, json_type="boolean"),
]


def blank(text: str, locale: str) -> str:
    return " ".join(blank_taken_back(SPECS, text, ReadingSituation(NOW, locale=locale)).split())


@pytest.mark.parametrize(
    ("text", "locale", "rest"),
    [
        ("two, no three, and a crib", "en-GB", "three, and a crib"),
        ("8 no wait 9 and a crib please", "en-GB", "9 and a crib please"),
        ("Monday, no Tuesday, at 3pm", "en-GB", "Tuesday, at 3pm"),
        ("on 4 May, sorry 5 May, for two", "en-GB", "on 5 May, for two"),
        ("2 on Monday, no Tuesday, at 3pm", "en-GB", "2 on Tuesday, at 3pm"),
        ("half past four, no five, on Monday", "en-GB", "five, on Monday"),
        ("two no three on Sunday", "en-GB", "three on Sunday"),
        ("zwei, nein drei, und ein Babybett", "de-DE", "drei, und ein Babybett"),
        ("am Montag, ne Dienstag um 15 Uhr", "de-DE", "am Dienstag um 15 Uhr"),
        ("Monday at 3, no 4, for two", "en-GB", "Monday at 4, for two"),
        ("8, ach nee 9 und ein Babybett", "de-DE", "9 und ein Babybett"),
        ("3pm, no 4, and a crib", "en-GB", "4pm , and a crib"),
        ("3 guests, no wait 5, and a crib", "en-GB", "5 guests , and a crib"),
        ("two on Monday at 3pm, no 4", "en-GB", "two on Monday at 4pm"),
        ("10, er 11, and a crib", "en-GB", "11, and a crib"),
        ("for 3 hours, no 4, and a crib", "en-GB", "for 4 hours , and a crib"),
        ("15 Uhr, nein 14, und ein Babybett", "de-DE", "14 Uhr , und ein Babybett"),
        ("10 – äh 11 Uhr und ein Babybett", "de-DE", "11 Uhr und ein Babybett"),
    ],
)
def test_a_value_is_taken_back_by_the_next_one_and_the_rest_is_read_on(text: str, locale: str, rest: str) -> None:
    assert blank(text, locale) == rest


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("two, not three, and a crib", "en-GB"),
        ("two adults, no children, and a crib", "en-GB"),
        ("2 adults, no 3 year olds, on Friday", "en-GB"),
        ("Monday, no crib, at 3pm", "en-GB"),
        ("two, no three", "en-GB"),
        ("two, no three, or is that too many?", "en-GB"),
        ("at 3, wait 5 guests, and a crib", "en-GB"),
        ("um 3, moment 5 Gäste, und ein Babybett", "de-DE"),
        ("zwei, nicht drei, und ein Babybett", "de-DE"),
        ("zwei, kein Babybett, am Montag", "de-DE"),
    ],
)
def test_a_no_before_anything_else_takes_nothing_back(text: str, locale: str) -> None:
    assert blank(text, locale) == text
