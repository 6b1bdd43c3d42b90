"""The answer to a question that offers several values, by what tells one from the others."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.say import say_values
from convengine.engine.understanding.span import RefusalReason, Situation
from convengine.engine.understanding.understand import understand
from convengine.json_value import Json

LONDON = "Europe/London"
#: A Thursday.
NOW = datetime(2026, 11, 26, 10, tzinfo=ZoneInfo(LONDON))
TIMES = ("07:00", "19:00")
DAYS = ("2026-11-28", "2026-12-05")
MOMENTS = ("2026-11-27T07:00:00+00:00", "2026-11-27T19:00:00+00:00")
DOUBLED = ("2026-10-25T01:30:00+01:00", "2026-10-25T01:30:00+00:00")


def read(
    kind: str, text: str, offered: tuple[Json, ...] = (), locale: str = "en-GB", now: datetime = NOW
) -> tuple[Json, str]:
    """The value that is taken for the asked field, and why one is refused."""
    spec = field_spec("when", {"x-kind": kind, "title": "When"})
    field, tables = FormField(spec, True, list_labels(["When"])), get_tables(locale)
    message = understand(text, tables, FINDERS, [spec], make_lexicon((field,), tables.lexicon))
    situation = Situation(now, LONDON, locale, listed_options=offered)
    reading = read_into_form(message, OpenForm((field,), asked_path="when"), FINDERS, situation)
    taken = next((item.value for item in reading.taken), None)
    return taken, next((str(item.reason) for item in reading.refused), "")


@pytest.mark.parametrize(
    ("kind", "offered", "text", "expected"),
    [
        ("time", TIMES, "pm", "19:00"),
        ("time", TIMES, "in the evening please", "19:00"),
        ("time", TIMES, "the morning one", "07:00"),
        ("time", TIMES, "the second", "19:00"),
        ("time", TIMES, "the earlier one", "07:00"),
        ("time", TIMES, "the latter", "19:00"),
        ("time", TIMES, "at 8pm", "20:00"),
        ("date", DAYS, "the later one", "2026-12-05"),
        ("date", DAYS, "5th", "2026-12-05"),
        ("date", DAYS, "in November", "2026-11-28"),
        ("date", DAYS, "the second of January", "2027-01-02"),
        ("date", ("2026-11-28", "2026-11-29"), "Sunday's", "2026-11-29"),
        ("number", (5000, 10000), "the larger one", 10000),
        ("number", (5000, 10000), "7000", 7000),
        ("duration", ("PT2H", "PT3H"), "the longer one", "PT3H"),
        ("datetime", MOMENTS, "evening", "2026-11-27T19:00:00+00:00"),
        ("datetime", MOMENTS, "7pm", "2026-11-27T19:00:00+00:00"),
        ("datetime", DOUBLED, "summer time", "2026-10-25T01:30:00+01:00"),
        ("datetime", DOUBLED, "the winter one", "2026-10-25T01:30:00+00:00"),
    ],
)
def test_what_tells_two_offered_values_apart_chooses_one(
    kind: str, offered: tuple[Json, ...], text: str, expected: Json
) -> None:
    assert read(kind, text, offered) == (expected, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("abends", "19:00"), ("das zweite", "19:00"), ("die spätere Zeit", "19:00")],
)
def test_german_words_choose_an_offered_value(text: str, expected: str) -> None:
    assert read("time", text, TIMES, "de-DE") == (expected, "")


@pytest.mark.parametrize(
    ("kind", "text", "offered", "expected"),
    [
        ("time", "7", TIMES, (None, RefusalReason.AMBIGUOUS)),
        ("time", "the evening one", (), (None, RefusalReason.TIME_MISSING)),
        ("time", "the second", (), (None, "")),
        ("date", "the second", (), ("2026-12-02", "")),
        ("number", "the second", (), (2, "")),
    ],
)
def test_words_that_choose_nothing_mean_what_they_say(
    kind: str, text: str, offered: tuple[Json, ...], expected: tuple[Json, str]
) -> None:
    assert read(kind, text, offered) == expected


@pytest.mark.parametrize(
    ("now", "kind", "text", "expected"),
    [
        ("2027-03-27T23:00:00+00:00", "datetime", "in 3 hours", "2027-03-28T03:00:00+01:00"),
        ("2027-03-28T00:30:00+00:00", "time", "in an hour", "02:30"),
        ("2026-10-25T01:30:00+01:00", "datetime", "in 1 hour", "2026-10-25T01:30:00+00:00"),
        ("2026-10-20T10:00:00+01:00", "datetime", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00+00:00"),
    ],
)
def test_a_length_is_added_to_the_instant(now: str, kind: str, text: str, expected: str) -> None:
    assert read(kind, text, now=datetime.fromisoformat(now)) == (expected, "")


def test_the_labels_of_a_doubled_hour_differ() -> None:
    spec = field_spec("when", {"x-kind": "datetime"})

    assert say_values(spec, DOUBLED, "en-GB") == [
        "Sunday 25 October 2026, 01:30 (summer time)",
        "Sunday 25 October 2026, 01:30 (winter time)",
    ]
    assert say_values(spec, DOUBLED, "de-DE")[0].endswith("(Sommerzeit)")
    assert say_values(spec, MOMENTS, "en-GB") == ["Friday 27 November 2026, 07:00", "Friday 27 November 2026, 19:00"]
