"""Calculating with days: weekdays, months, units, holidays, and the bounds of fields (`today+90d`, `08:00`)."""

from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from convengine.json_value import Json

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAYS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
_ANCHORS = {"today": 0, "tomorrow": 1, "yesterday": -1, "now": 0}
#: How bounds write a unit.
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

    def is_coming(self, today: date) -> bool:
        """True when no earlier day than today is allowed."""
        return self.first is not None and self.first >= today


def add_units(day: date, number: int, unit: str) -> date:
    """A day some units later: days, nights, weeks, fortnights, months or years.

    A month later on the 31st is the last day of a shorter month.
    """
    if unit in _DAYS:
        return day + timedelta(days=number * _DAYS[unit])
    months = number * (12 if unit == "year" else 1)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def find_weekday_after(day: date, weekday: int) -> date:
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def find_weekday_before(day: date, weekday: int) -> date:
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def find_monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def make_date(year: int, month: int, day: int) -> date | None:
    """The day. Returns None if the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def find_month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def find_holiday(rule: str, year: int) -> date:
    """The day of a holiday in a year: `12-25`, `easter-2`, `sun by 12-24` (the last Sunday up to that day)."""
    weekday, _, fixed = rule.rpartition(" by ")
    if fixed.startswith("easter"):
        return find_easter(year) + timedelta(days=int(fixed.removeprefix("easter") or 0))
    month, day = map(int, fixed.split("-"))
    named = date(year, month, day)
    return find_weekday_before(named + timedelta(days=1), _WEEKDAYS.index(weekday)) if weekday else named


def find_easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher."""
    golden, (century, rest) = year % 19, divmod(year, 100)
    leap, correction = divmod(century, 4)
    epact = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * correction + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def read_date_bound(bound: Json, today: date) -> date | None:
    """A bound as a day. Returns None if there is none, or if it is not understood."""
    if not isinstance(bound, str):
        return None
    shifted = _shift_anchor(bound, datetime.combine(today, datetime.min.time()))
    if shifted is not None:
        return shifted.date()
    try:
        return date.fromisoformat(bound.strip()[:10])
    except ValueError:
        return None


def read_moment_bound(bound: Json, now: datetime, *, is_last: bool) -> datetime | None:
    """A bound as a local time, without its zone: that of `now`, if it has one. A day as the last bound means its end.

    Returns None if there is none, or if it is not understood.
    """
    if not isinstance(bound, str):
        return None
    text, zone, now = bound.strip().lower(), now.tzinfo, now.replace(tzinfo=None)
    end_of_day = timedelta(days=1, microseconds=-1)
    if text.startswith("now"):
        return _shift_anchor(text, now)
    if (day := _shift_anchor(text, datetime.combine(now.date(), datetime.min.time()))) is not None:
        return day + end_of_day if is_last and not text.endswith(("h", "min")) else day
    try:
        moment = datetime.fromisoformat(bound.strip())
    except ValueError:
        return None
    if moment.tzinfo and zone:
        with suppress(OverflowError):  # As it is written if no calendar has it.
            moment = moment.astimezone(zone)
    moment = moment.replace(tzinfo=None)
    return moment + end_of_day if is_last and len(text) == len("2026-01-01") else moment


def read_time_bound(bound: Json) -> int | None:
    """A bound as minutes since midnight. 24:00 is the end of the day. Returns None for what is no time."""
    parts = bound.strip().split(":") if isinstance(bound, str) else []
    if len(parts) not in (2, 3) or not all(part.isdecimal() and len(part) <= 2 for part in parts):
        return None
    return int(parts[0]) * 60 + int(parts[1])


def _shift_anchor(bound: str, base: datetime) -> datetime | None:
    """`today+90d`, `now + 2h`, counted from `base`.

    Returns None for another text, and for a day that no calendar has: `today+9000y`.
    """
    text = bound.lower().replace(" ", "")
    anchor = next((word for word in _ANCHORS if text.startswith(word)), None)
    if anchor is None:
        return None
    base, rest = base + timedelta(days=_ANCHORS[anchor]), text.removeprefix(anchor)
    if not rest:
        return base
    digits = "".join(char for char in rest[1:] if char.isdecimal())
    unit = _UNITS.get(rest[1 + len(digits) :])
    if rest[0] not in "+-" or not 0 < len(digits) <= 5 or unit is None:
        return None
    number = int(digits) * (-1 if rest[0] == "-" else 1)
    try:
        if unit in ("hour", "minute"):
            return base + timedelta(minutes=number * (60 if unit == "hour" else 1))
        return datetime.combine(add_units(base.date(), number, unit), base.time())
    except (ValueError, OverflowError):
        return None
