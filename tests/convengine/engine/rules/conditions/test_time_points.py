"""Dates and times as conditions name them."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.rules.conditions.time_points import (
    TimePoint,
    compare_time_points,
    describe_time_point,
    is_time_point,
    read_time_point,
)

NOW = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-05", date(2026, 12, 5)),
        (" 2026-12-05 ", date(2026, 12, 5)),
        ("16:30", time(16, 30)),
        ("2026-12-05T16:30", datetime(2026, 12, 5, 16, 30, tzinfo=UTC)),
        ("2026-12-05 16:30:00Z", datetime(2026, 12, 5, 16, 30, tzinfo=UTC)),
        ("2026-12-05T16:30+02:00", datetime(2026, 12, 5, 14, 30, tzinfo=UTC)),
        ("today", date(2026, 11, 21)),
        ("TODAY", date(2026, 11, 21)),
        ("tomorrow", date(2026, 11, 22)),
        ("yesterday", date(2026, 11, 20)),
        ("today+2d", date(2026, 11, 23)),
        ("today - 1w", date(2026, 11, 14)),
        ("today+48h", date(2026, 11, 23)),
        ("now", NOW),
        ("now+3h", datetime(2026, 11, 21, 17, 30, tzinfo=UTC)),
        ("now-45min", datetime(2026, 11, 21, 13, 45, tzinfo=UTC)),
    ],
)
def test_a_text_names_a_day_a_time_or_a_moment(text: str, expected: TimePoint) -> None:
    assert read_time_point(text, NOW) == expected
    assert is_time_point(text)


@pytest.mark.parametrize(
    "value", ["", "soon", "2026-02-30", "25:00", "today+3h", "03/04/2026", "now+1y", 7, None, "x" * 99]
)
def test_anything_else_names_none(value: object) -> None:
    assert read_time_point(value, NOW) is None
    assert not is_time_point(value)


def test_a_relative_day_needs_the_clock_and_a_date_does_not() -> None:
    assert read_time_point("today", None) is None
    assert read_time_point("2026-12-05", None) == date(2026, 12, 5)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("2026-12-05", "2026-12-06", -1),
        ("2026-12-05", "2026-12-05T23:00", 0),
        ("2026-12-05T23:00", "2026-12-05T22:00", 1),
        ("2026-12-05T16:30", "16:30", 0),
        ("09:00", "2026-12-05T16:30", -1),
        ("2026-12-05", "16:30", None),
    ],
)
def test_a_day_compares_days_and_a_time_compares_times(left: str, right: str, expected: int | None) -> None:
    time_point, other = read_time_point(left, NOW), read_time_point(right, NOW)

    assert time_point is not None
    assert other is not None
    assert compare_time_points(time_point, other) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today+2d", "today plus 2 days"),
        ("now-1h", "now minus 1 hour"),
        ("Tomorrow", "tomorrow"),
        ("2026-12-05", "2026-12-05"),
    ],
)
def test_a_relative_time_is_told_in_words(text: str, expected: str) -> None:
    assert describe_time_point(text) == expected


@pytest.mark.parametrize(
    ("text", "zone", "day"),
    [
        ("9999-12-31T23:59:59Z", "Europe/Berlin", date(9999, 12, 31)),
        ("0001-01-01T00:00:00Z", "America/New_York", date(1, 1, 1)),
    ],
)
def test_a_moment_that_the_time_zone_does_not_have_keeps_its_own(text: str, zone: str, day: date) -> None:
    now = NOW.astimezone(ZoneInfo(zone))
    point = read_time_point(text, now)

    assert isinstance(point, datetime)
    assert compare_time_points(point, day) == 0
    assert compare_time_points(point, now) == (1 if day.year > 2026 else -1)
