"""The bounds of a field: `today+90d`, `now+2h`, `08:00`, a date, a number. Both ends are allowed."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from convengine.engine.values.calendar_math import add_units, add_units_to_time

Json = Any
_RELATIVE = re.compile(r"(today|tomorrow|yesterday|now)(?:\s*([+-])\s*(\d{1,5})\s*(d|w|m|y|h|min))?", re.IGNORECASE)
_DAYS = {"tomorrow": 1, "yesterday": -1}
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")
_UNITS = {"d": "day", "w": "week", "m": "month", "y": "year", "h": "hour", "min": "minute"}


@dataclass(frozen=True)
class DateBounds:
    """The days that a field allows."""

    first: date | None = None
    last: date | None = None

    def allows(self, day: date) -> bool:
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)

    def lies_in_past(self, today: date) -> bool:
        """True when no later day than today is allowed."""
        return self.last is not None and self.last <= today


def read_date_bound(bound: Json, today: date) -> date | None:
    """A bound as a day; null for none, and for one that is not understood."""
    if not isinstance(bound, str):
        return None
    if match := _RELATIVE.fullmatch(bound.strip()):
        return _shift(datetime.combine(today, datetime.min.time()), match).date()
    try:
        return date.fromisoformat(bound.strip()[:10])
    except ValueError:
        return None


def read_moment_bound(bound: Json, now: datetime, *, is_last: bool) -> datetime | None:
    """A bound as a local time. A day as the last bound means its end."""
    if not isinstance(bound, str):
        return None
    text = bound.strip()
    if match := _RELATIVE.fullmatch(text):
        if match[1].lower() == "now":
            return _shift(now, match)
        day = _shift(datetime.combine(now.date(), datetime.min.time()), match)
        return day + timedelta(days=1, microseconds=-1) if is_last and match[4] not in ("h", "min") else day
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment.astimezone(now.tzinfo).replace(tzinfo=None) if moment.tzinfo else moment
    return moment + timedelta(days=1, microseconds=-1) if is_last and len(text) == 10 else moment


def read_time_bound(bound: Json) -> int | None:
    """A bound as minutes since midnight. 24:00 is the end of the day."""
    match = _CLOCK.fullmatch(bound.strip()) if isinstance(bound, str) else None
    return int(match[1]) * 60 + int(match[2]) if match else None


def _shift(moment: datetime, match: re.Match[str]) -> datetime:
    moment += timedelta(days=_DAYS.get(match[1].lower(), 0))
    if match[2] is None:
        return moment
    number = int(match[3]) * (-1 if match[2] == "-" else 1)
    unit = _UNITS[match[4].lower()]
    if unit in ("hour", "minute"):
        return add_units_to_time(moment, number, unit)
    return datetime.combine(add_units(moment.date(), number, unit), moment.time())
