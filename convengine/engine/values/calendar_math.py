"""Calculating with days: weekdays, months, units."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta

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
