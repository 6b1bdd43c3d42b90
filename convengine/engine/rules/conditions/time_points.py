"""Dates and times as conditions name them: `2026-12-05`, `16:30`, `today+2d`, `now-3h`."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

#: A day, a time of the day, or a moment with its time zone.
TimePoint = date | time | datetime

_UNITS: Mapping[str, tuple[str, timedelta]] = {
    "min": ("minute", timedelta(minutes=1)),
    "h": ("hour", timedelta(hours=1)),
    "d": ("day", timedelta(days=1)),
    "w": ("week", timedelta(weeks=1)),
}
_DAYS: Mapping[str, int] = {"yesterday": -1, "today": 0, "tomorrow": 1}
_RELATIVE = re.compile(
    r"(?P<base>now|today|tomorrow|yesterday)(?:\s*(?P<sign>[+-])\s*(?P<count>\d{1,5})\s*(?P<unit>min|h|d|w))?",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{2}:\d{2}(?::\d{2})?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d{2}:\d{2})?")
#: No date is longer.
_LONGEST = 40


def read_time_point(value: Any, now: datetime | None) -> TimePoint | None:
    """The day, time or moment that a text names. Returns None if it names none.

    Relative ones need the clock of the turn, `now`. Moments are given in its time zone, if they exist there.
    """
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    text = value.strip()
    if match := _RELATIVE.fullmatch(text):
        return _read_relative(match, now) if now else None
    absolute = _read_absolute(text)
    if not isinstance(absolute, datetime) or now is None:
        return absolute
    if absolute.tzinfo is None:
        return absolute.replace(tzinfo=now.tzinfo)
    try:
        return absolute.astimezone(now.tzinfo)
    except OverflowError:
        return absolute  # Its day in that time zone is in no calendar: 9999-12-31T23:59:59Z in Berlin.


def is_time_point(value: Any) -> bool:
    """True for a text that names a date or a time, whatever the clock says."""
    return read_time_point(value, datetime.fromisoformat("2026-01-01T12:00:00+00:00")) is not None


def describe_time_point(text: str) -> str:
    """A date or time in words: `today+2d` is "today plus 2 days"; another text is unchanged."""
    match = _RELATIVE.fullmatch(text.strip())
    if match is None:
        return text
    if not match["unit"]:
        return match["base"].lower()
    unit, _ = _UNITS[match["unit"].lower()]
    count = int(match["count"])
    return f"{match['base'].lower()} {'plus' if match['sign'] == '+' else 'minus'} {describe_count(count, unit)}"


def describe_count(count: object, noun: str) -> str:
    """`1 day`, `2 days`, `2 entries`."""
    if str(count) == "1":
        return f"{count} {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("ry") else f"{count} {noun}s"


def compare_time_points(left: TimePoint, right: TimePoint) -> int | None:
    """-1, 0 or 1. Returns None where the two cannot be compared.

    With a day on either side, days are compared; with a time of the day on either side, times of the day, without
    microseconds.
    """
    if isinstance(left, time) or isinstance(right, time):
        clocks = [
            point if isinstance(point, time) else point.time().replace(microsecond=0)
            for point in (left, right)
            if isinstance(point, (time, datetime))
        ]
        return (clocks[0] > clocks[1]) - (clocks[0] < clocks[1]) if len(clocks) == 2 else None
    if not (isinstance(left, datetime) and isinstance(right, datetime)):
        left, right = get_day(left), get_day(right)
    elif (left.tzinfo is None) is not (right.tzinfo is None):
        return None
    return (left > right) - (left < right)


def get_day(point: date) -> date:
    return point.date() if isinstance(point, datetime) else point


def _read_relative(match: re.Match[str], now: datetime) -> TimePoint | None:
    """The day or moment that is so far from now. Returns None for a day with a part of a day: `today+3h`."""
    base, unit = match["base"].lower(), (match["unit"] or "").lower()
    offset = _UNITS[unit][1] * int(f"{match['sign']}{match['count']}") if unit else timedelta()
    if base == "now":
        return now + offset
    if offset % timedelta(days=1):
        return None
    return now.date() + timedelta(days=_DAYS[base]) + offset


@lru_cache(maxsize=1024)
def _read_absolute(text: str) -> TimePoint | None:
    """The day, time or moment as written. Returns None for another text, and for a date that does not exist."""
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
        if _TIME.fullmatch(text):
            return time.fromisoformat(text)
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text.upper())
    except ValueError:
        pass
    return None
