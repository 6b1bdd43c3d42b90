"""Dates and times as people write them, and their stored form (R10)."""

import re
from datetime import date, datetime, time

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?:{'|'.join(_MONTHS)})\b\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR_FIRST = r"\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{4}\.\d{1,2}\.\d{1,2}"
_YEAR_LAST = r"\d{1,2}-\d{1,2}-\d{4}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\s?\d{1,2}\.\s?\d{4}"
_NAMED = rf"{_DAY}\.?[\s-]+(?:of\s+)?{_MONTH},?[\s-]+\d{{4}}|{_MONTH}\s+{_DAY},?\s+\d{{4}}"
#: A date in a folded text.
DATE = rf"(?:{_YEAR_FIRST}|{_YEAR_LAST}|{_NAMED})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:\s?[ap]\.?m\b\.?)?"
_ZONE = r"(?:z|utc|gmt|[+-]\d{2}:?\d{2})"
#: A date and a time in a folded text, with or without a time zone.
DATE_TIME = rf"{DATE}(?:t|,?\s+(?:at\s+)?){_CLOCK}(?:\s?{_ZONE})?"
_PARTS = re.compile(rf"(?P<date>{DATE})(?:t|,?\s+(?:at\s+)?)(?P<clock>{_CLOCK})\s?(?P<zone>{_ZONE})?", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z]+|\d+")


#: Why 03/04/2025 is not read.
DATE_AMBIGUOUS = "DATE_AMBIGUOUS"


class Unclear(ValueError):
    """A text that looks like a date but is invalid or ambiguous; the message is the reason's code."""


def read_date(text: str) -> str:
    """The date as YYYY-MM-DD. Raises Unclear: DATE_AMBIGUOUS for 03/04/2025, else VALUE_INVALID."""
    lower = text.strip().lower()
    if not re.fullmatch(DATE, lower):
        raise Unclear("VALUE_INVALID")
    tokens = [token for token in _TOKEN.findall(lower) if token not in ("st", "nd", "rd", "th", "of")]
    named = [_MONTHS[token] for token in tokens if token in _MONTHS]
    numbers = [int(token) for token in tokens if token.isdigit()]
    if named:
        day, year = numbers
        return _date(year, named[0], day)
    if len(tokens[0]) == 4:
        return _date(*numbers)
    first, second, year = numbers
    if "." in lower or first > 12 or first == second:
        return _date(year, second, first)
    if second > 12:
        return _date(year, first, second)
    raise Unclear(DATE_AMBIGUOUS)


def read_date_time(text: str) -> str:
    """Date and time in the form of RFC 3339. Raises Unclear: ZONE_MISSING, or as read_date."""
    parts = _PARTS.fullmatch(text.strip())
    if parts is None:
        raise Unclear("VALUE_INVALID")
    day = read_date(parts["date"])
    moment = _time(parts["clock"].lower())
    if not parts["zone"]:
        raise Unclear("ZONE_MISSING")
    zone = parts["zone"].lower()
    offset = "Z" if zone in ("z", "utc", "gmt") else f"{zone[:3]}:{zone[-2:]}"
    return f"{day}T{moment}{offset}"


def is_date_time(text: str) -> bool:
    """True for a date-time of RFC 3339."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", text):
        return False
    try:
        datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def _date(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise Unclear("VALUE_INVALID") from None


def _time(clock: str) -> str:
    hour, minute, second = ([int(part) for part in re.findall(r"\d+", clock.partition(".")[0])] + [0])[:3]
    if "m" in clock:
        if not 1 <= hour <= 12:
            raise Unclear("VALUE_INVALID")
        hour = hour % 12 + (12 if "p" in clock else 0)
    try:
        return time(hour, minute, second).isoformat()
    except ValueError:
        raise Unclear("VALUE_INVALID") from None
