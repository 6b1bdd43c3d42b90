"""Calculating with days: weekdays, months, units."""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta

#: How the tables write a holiday: "12-25", "easter-2", "sun by 12-24" (the last Sunday up to that day).
_HOLIDAY = re.compile(r"(?:(mon|tue|wed|thu|fri|sat|sun) by )?(\d\d)-(\d\d)|easter([+-]\d+)?")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAYS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}


def add_units(day: date, number: int, unit: str) -> date:
    """A day some units later. A month later on the 31st is the last day of a shorter month."""
    if unit in _DAYS:
        return day + timedelta(days=number * _DAYS[unit])
    months = number * (12 if unit == "year" else 1)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def add_units_to_time(moment: datetime, number: float, unit: str) -> datetime:
    """A time some minutes or hours later."""
    return moment + timedelta(minutes=number * (60 if unit == "hour" else 1))


def find_weekday_after(day: date, weekday: int) -> date:
    """The first such weekday after a day."""
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def find_weekday_before(day: date, weekday: int) -> date:
    """The last such weekday before a day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def find_monday(day: date) -> date:
    """The Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def make_date(year: int, month: int, day: int) -> date | None:
    """The day, or null if the calendar has none such."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def find_month_end(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def find_holiday(rule: str, year: int) -> date:
    """The day of a holiday in a year."""
    match = _HOLIDAY.fullmatch(rule)
    if match is None:
        raise ValueError(rule)
    if match[2] is None:
        return find_easter(year) + timedelta(days=int(match[4] or 0))
    day = date(year, int(match[2]), int(match[3]))
    return find_weekday_before(day + timedelta(days=1), _WEEKDAYS.index(match[1])) if match[1] else day


def find_easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher."""
    golden, (century, rest) = year % 19, divmod(year, 100)
    leap, correction = divmod(century, 4)
    epact = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * correction + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def shift_moment(value: str, parts: Mapping[str, int]) -> str | None:
    """A stored day, time, or day and time, moved by a duration; null if a time leaves its day."""
    is_time = "T" not in value and ":" in value
    moment = datetime.fromisoformat(f"2000-01-03T{value}" if is_time else value)
    moved = moment
    for unit, number in parts.items():
        if unit in ("hour", "minute", "second"):
            moved = add_units_to_time(moved, number, unit)
        else:
            moved = datetime.combine(add_units(moved.date(), number, unit), moved.timetz())
    if is_time:
        return moved.strftime("%H:%M") if moved.date() == moment.date() else None
    return moved.isoformat() if "T" in value else moved.date().isoformat()
