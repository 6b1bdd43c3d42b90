"""The bot asked which of two days or times is meant."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import ReadingSituation, field_spec, read_value

NOW = datetime(2026, 9, 7, 10, tzinfo=ZoneInfo("Europe/London"))  # a Monday
DATE = field_spec("day", {"type": "string", "format": "date", "x-min": "today"})
TIME = field_spec("time", {"type": "string", "format": "time"})
DAYS = ("2026-09-09", "2026-09-16")


def read(text: str, *, spec: Any = DATE, offered: tuple[str, ...] = DAYS, locale: str = "en-GB") -> Any:
    situation = ReadingSituation(NOW, "Europe/London", locale, listed_options=offered)
    return read_value(spec, text, situation).value


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("the second one", "en-GB", 1), ("the first please", "en-GB", 0), ("the later one", "en-GB", 1),
        ("the earlier one", "en-GB", 0), ("next week", "en-GB", 1), ("this week", "en-GB", 0), ("the last", "en-GB", 1),
        ("the 16th", "en-GB", 1), ("den zweiten", "de-DE", 1), ("die erste Möglichkeit", "de-DE", 0),
        ("lieber den späteren", "de-DE", 1), ("nächste Woche", "de-DE", 1), ("diese Woche", "de-DE", 0),
    ],
)  # fmt: skip
def test_a_position_an_order_or_a_week_chooses_an_offered_day(text: str, locale: str, day: int) -> None:
    assert read(text, locale=locale) == DAYS[day]


@pytest.mark.parametrize(
    ("text", "day"), [("the 2nd", "2026-10-02"), ("tomorrow", "2026-09-08"), ("the third", "2026-10-03")]
)
def test_another_day_is_read_as_it_is_said(text: str, day: str) -> None:
    assert read(text) == day


def test_nothing_is_chosen_when_nothing_was_offered() -> None:
    assert read("the second", offered=()) == "2026-10-02"
    assert read("the second", offered=("bike", "car")) == "2026-10-02"


def test_an_hour_is_no_position_among_offered_times() -> None:
    times = ("02:00", "14:00")

    assert read("the second", spec=TIME, offered=times) == "14:00"
    assert read("the later one", spec=TIME, offered=times) == "14:00"
    assert read("half past one pm", spec=TIME, offered=times) == "13:30"
    assert read("one", spec=TIME, offered=times) is None


@pytest.mark.parametrize(
    ("text", "locale"), [("Friday or Saturday", "en-GB"), ("entweder Freitag oder Samstag", "de-DE")]
)
def test_two_days_are_asked_back(text: str, locale: str) -> None:
    situation = ReadingSituation(NOW, "Europe/London", locale)

    assert read_value(DATE, text, situation).candidates == ("2026-09-11", "2026-09-12")
    assert not read_value(DATE, text, replace(situation, is_asked=False)).candidates
    assert not read_value(DATE, f"{text}?", situation).candidates


@pytest.mark.parametrize(
    ("text", "locale", "numbers"),
    [
        ("four or five", "en-GB", (4, 5)),
        ("either 4 or 6 people", "en-GB", (4, 6)),
        ("4 to 5", "en-GB", (4, 5)),
        ("4-5", "en-GB", (4, 5)),
        ("4 bis 5", "de-DE", (4, 5)),
        ("entweder vier oder sechs", "de-DE", (4, 6)),
        ("4 to 9", "en-GB", ()),
        ("between 4 and 9", "en-GB", ()),
        ("4 or so", "en-GB", 4),
    ],
)
def test_of_two_numbers_the_bot_asks_which(text: str, locale: str, numbers: Any) -> None:
    spec = field_spec("people", {"type": "integer", "x-ask": "How many people are coming?", "title": "Personen"})
    reading = read_value(spec, text, ReadingSituation(NOW, "Europe/London", locale))

    assert (reading.value or reading.candidates) == numbers


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [
        ("the ground floor", "en-GB", 0), ("we live on the ground floor", "en-GB", 0), ("im EG", "de-DE", 0),
        ("Erdgeschoss, bitte", "de-DE", 0), ("kein Erdgeschoss", "de-DE", None), ("basement", "en-GB", None),
    ],
)  # fmt: skip
def test_the_ground_floor_is_number_nought(text: str, locale: str, number: int | None) -> None:
    situation = ReadingSituation(NOW, "Europe/London", locale)
    floor, rooms = {"title": "Etage", "x-ask": "Which floor?"}, {"title": "Rooms"}

    assert read_value(field_spec("level", {"type": "integer", **floor}), text, situation).value == number
    assert read_value(field_spec("rooms", {"type": "integer", **rooms}), text, situation).value is None


@pytest.mark.parametrize(
    ("text", "locale", "amount"),
    [
        ("fuffzig", "de-DE", 50), ("einen Hunderter", "de-DE", 100), ("ich dachte so an 70", "de-DE", 70),
        ("a tenner", "en-GB", 10), ("I was thinking 70", "en-GB", 70),
    ],
)  # fmt: skip
def test_money_has_words_of_its_own(text: str, locale: str, amount: int) -> None:
    situation = ReadingSituation(NOW, "Europe/London", locale)

    assert read_value(field_spec("sum", {"type": "number", "x-currency": "EUR"}), text, situation).value == amount


def test_the_afternoon_one_is_no_hour() -> None:
    assert read("the afternoon one", spec=TIME, offered=()) is None
    assert read("one in the afternoon", spec=TIME, offered=()) == "13:00"
