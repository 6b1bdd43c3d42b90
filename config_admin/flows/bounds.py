"""The bounds of a field: the choices that the page offers, and what may be typed."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound, read_moment_bound, read_time_bound
from convengine.engine.understanding.kinds.lengths import count_seconds, parse_duration

#: What is offered for each type, with labels.
OFFERED: Mapping[str, Sequence[tuple[str, str]]] = {
    "date": (
        ("today", "today"),
        ("today+1d", "tomorrow"),
        ("today+7d", "in a week"),
        ("today+30d", "in 30 days"),
        ("today+90d", "in 90 days"),
        ("today+1y", "in a year"),
        ("today-30d", "30 days ago"),
        ("today-1y", "a year ago"),
    ),
    "time": tuple((f"{hour:02}:00", "") for hour in range(6, 24)),
    "datetime": (
        ("now", "now"),
        ("now+2h", "in two hours"),
        ("today+1d", "tomorrow"),
        ("today+30d", "in 30 days"),
        ("today+90d", "in 90 days"),
    ),
    "duration": (
        ("PT15M", "15 minutes"),
        ("PT30M", "30 minutes"),
        ("PT1H", "an hour"),
        ("PT4H", "four hours"),
        ("P1D", "a day"),
        ("P1W", "a week"),
    ),
}
#: What may be typed for each type; the page and its errors name it.
EXAMPLES: Mapping[str, str] = {
    "date": "today, tomorrow, in 3 months, 2 weeks ago, or a date such as 2026-12-31",
    "datetime": "now, in 2 hours, tomorrow, in 90 days, or a time such as 2026-12-31T18:00",
    "time": "hours and minutes, such as 08:30",
    "duration": "an amount of time, such as 30 minutes, 2 hours or 1 day 12 hours",
    "number": "a number",
    "money": "a number",
}
#: What the two bounds are called for the types of days and times, as in conditions, and for the other types.
_ORDER_LABELS: Mapping[bool, Mapping[str, str]] = {
    True: {"min": "On or after", "max": "On or before"},
    False: {"min": "At least", "max": "At most"},
}
_TYPES_OF_TIMES = frozenset({"date", "time", "datetime"})
#: A time as people type it: 9, 17:30.
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?")
_UNITS = {"minute": "min", "hour": "h", "day": "d", "week": "w", "month": "m", "year": "y"}
_AMOUNT = re.compile(r"(\d{1,5}|an?|one|two|three)\s*(min|minute|hour|day|week|month|year)s?")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
#: Words around an amount that tell its direction: in 3 months, 3 months from now, 30 days ago.
_AHEAD = re.compile(r"(?:in\s+)?(.+?)(?:\s+(?:from (?:now|today)|ahead|later))?")
_AGO = re.compile(r"(.+?)\s+(?:ago|before today)")
#: A relative bound as it is stored: today+90d.
_RELATIVE = re.compile(r"(?:today|now)([+-])(\d+)(min|[hdwmy])")
_NEAR_DAYS = {"today-1d": "yesterday"}
#: Any moment: bounds are only compared with one another.
_NOW = datetime(2026, 1, 1, 12)


class BoundInvalid(ValueError):
    """The text is not understood as a bound of the type."""

    def __init__(self, field_type: str, text: str) -> None:
        super().__init__(f"“{text}” is not understood. Use {EXAMPLES[field_type]}.")


def get_bound_labels(field_type: str) -> Mapping[str, str]:
    """The labels of `min` and `max` for a type of field."""
    return _ORDER_LABELS[field_type in _TYPES_OF_TIMES]


def read_bound(field_type: str, text: str) -> Any:
    """A bound as a document has it; blank for none. A comma in a number is a decimal point. Raises BoundInvalid."""
    text = text.strip()
    if not text:
        return ""
    if field_type in ("number", "money"):
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            raise BoundInvalid(field_type, text) from None
        if not -1e15 < number < 1e15:
            raise BoundInvalid(field_type, text)
        return int(number) if number.is_integer() else number
    plain = _read_words(field_type, text.lower()) or text
    if text.lower().startswith(("today", "now")):
        plain = text.lower().replace(" ", "")
    elif field_type == "time" and (clock := _CLOCK.fullmatch(text)):
        plain = f"{int(clock[1]):02}:{clock[2] or '00'}"
    if _measure(field_type, plain) is None:
        raise BoundInvalid(field_type, text)
    return plain


def format_bound(field_type: str, bound: Any) -> Any:
    """A stored bound in words that `read_bound` understands: today+90d is in 90 days. Others stay as they are."""
    if not isinstance(bound, str):
        return bound
    words = dict(OFFERED.get(field_type, ())).get(bound) or _NEAR_DAYS.get(bound) or _write_words(field_type, bound)
    return words if words and _read_words(field_type, words) == bound else bound


def _read_words(field_type: str, text: str) -> str:
    """The stored bound for these words; blank for other texts."""
    labels = {label: value for value, label in OFFERED.get(field_type, ()) if label}
    if text in labels:
        return labels[text]
    if field_type == "duration":
        return _read_duration(text)
    if field_type not in ("date", "datetime"):
        return ""
    if near := [value for value, label in _NEAR_DAYS.items() if text == label]:
        return near[0]
    for form, sign in ((_AGO, "-"), (_AHEAD, "+")):
        match = form.fullmatch(text)
        amount = _AMOUNT.fullmatch(match[1].strip()) if match else None
        if amount:
            unit = _UNITS.get(amount[2], "min")
            start = "now" if unit in ("h", "min") else "today"
            return f"{start}{sign}{_read_count(amount[1])}{unit}"
    return ""


def _read_duration(text: str) -> str:
    """1 day 12 hours is P1DT12H; blank for other texts."""
    if _AMOUNT.sub("", text).replace("and", "").strip(" ,"):
        return ""
    counts = {_UNITS.get(match[2], "min"): _read_count(match[1]) for match in _AMOUNT.finditer(text)}
    days = "".join(f"{counts[unit]}{unit.upper()}" for unit in ("y", "m", "w", "d") if unit in counts)
    hours = "".join(f"{counts[unit]}{unit[0].upper()}" for unit in ("h", "min") if unit in counts)
    return f"P{days}{'T' if hours else ''}{hours}" if counts else ""


def _read_count(text: str) -> int:
    return _NUMBERS.get(text) or int(text)


def _write_words(field_type: str, bound: str) -> str:
    """A duration, or a date or time relative to today, in words; blank for an absolute one."""
    if field_type == "duration":
        parts = parse_duration(bound) or {}
        return " ".join(_write_amount(number, unit) for unit, number in parts.items() if number)
    match = _RELATIVE.fullmatch(bound)
    if not match:
        return ""
    unit = next(name for name, letter in _UNITS.items() if letter == match[3])
    amount = _write_amount(int(match[2]), unit)
    return f"in {amount}" if match[1] == "+" else f"{amount} ago"


def _write_amount(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def is_in_order(field_type: str, first: Any, last: Any) -> bool:
    """False when the last bound comes before the first one."""
    low, high = (_measure(field_type, bound) for bound in (first, last))
    return low is None or high is None or bool(low <= high)


def _measure(field_type: str, bound: Any) -> Any:
    """A bound as a value to compare. Returns None if it cannot be read."""
    match field_type:
        case "date":
            return read_date_bound(bound, date(_NOW.year, _NOW.month, _NOW.day))
        case "datetime":
            return read_moment_bound(bound, _NOW, is_last=False)
        case "time":
            return read_time_bound(bound)
        case "duration":
            parts = parse_duration(bound.strip().upper()) if isinstance(bound, str) else None
            return count_seconds(parts) if parts else None
    return bound if isinstance(bound, (int, float)) else None
