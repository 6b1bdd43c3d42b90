"""The bounds of a field: the choices that the page offers, and what may be typed."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from convengine.engine.values.bounds import read_date_bound, read_moment_bound, read_time_bound
from convengine.engine.values.durations import count_seconds, parse_duration

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
_EXAMPLES = {
    "date": "today, today+90d, today-30d, or a date such as 2026-12-31",
    "datetime": "now, now+2h, today+90d, or a time such as 2026-12-31T18:00",
    "time": "hours and minutes, such as 08:30",
    "duration": "a duration such as PT30M (30 minutes) or P1D (a day)",
    "number": "a number",
    "money": "a number",
}
#: A time as people type it: 9, 17:30.
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?")
#: Any moment: bounds are only compared with one another.
_NOW = datetime(2026, 1, 1, 12)


class BoundInvalid(ValueError):
    """The text is no bound of the type."""

    def __init__(self, field_type: str, text: str) -> None:
        super().__init__(f"“{text}” is no bound. Use {_EXAMPLES[field_type]}.")


def read_bound(field_type: str, text: str) -> Any:
    """A bound as a document has it; blank for none. Raises BoundInvalid."""
    text = text.strip()
    if not text:
        return ""
    if field_type in ("number", "money"):
        return _read_number(field_type, text)
    labels = {label: value for value, label in OFFERED.get(field_type, ()) if label}
    plain = labels.get(text.lower(), text)
    if text.lower().startswith(("today", "now")):
        plain = text.lower().replace(" ", "")
    elif field_type == "time" and (clock := _CLOCK.fullmatch(text)):
        plain = f"{int(clock[1]):02}:{clock[2] or '00'}"
    if _measure(field_type, plain) is None:
        raise BoundInvalid(field_type, text)
    return plain


def is_in_order(field_type: str, first: Any, last: Any) -> bool:
    """False when the last bound comes before the first one."""
    low, high = (_measure(field_type, bound) for bound in (first, last))
    return low is None or high is None or bool(low <= high)


def _measure(field_type: str, bound: Any) -> Any:
    """A bound as something to compare; null for none."""
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


def _read_number(field_type: str, text: str) -> int | float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        raise BoundInvalid(field_type, text) from None
    if not -1e15 < number < 1e15:
        raise BoundInvalid(field_type, text)
    return int(number) if number.is_integer() else number
