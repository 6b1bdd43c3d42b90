"""The formats that are understood: how one is found in a text, how it is kept, and when a value has it (R8, R10)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from convengine.schemas.dates import DATE, DATE_TIME, Unclear, is_date_time, read_date, read_date_time

_EMAIL = r"[\w.%+'-]+@(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,}"
_URI = r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_GROUP = r"(?:[\s.\-/]?\(\d{1,5}\)|[\s.\-/]\d{3,8}|[\s.\-/]\d{2}(?!\d|\s?[a-z]))"
_PHONE = rf"(?:\+\d{{6,15}}|\d{{7,15}}|(?:\+\d{{1,3}}[\s.-]?)?(?:\(\d{{1,5}}\)[\s.-]?)?\d{{2,5}}{_GROUP}{{1,5}})"


@dataclass(frozen=True)
class Format:
    """One format. Patterns are for folded texts; `read` gives the value to keep, or raises Unclear."""

    pattern: re.Pattern[str]
    read: Callable[[str], str]
    #: True for a text that has the format as it is.
    holds: Callable[[str], bool]


def _found(pattern: str) -> re.Pattern[str]:
    """The pattern where nothing of a longer word, number or id touches it."""
    return re.compile(rf"(?<![\w@+/#-])(?<!\d[.,:]){pattern}(?![\w@/#-]|[.,:]\d)", re.IGNORECASE)


def _as_it_is(pattern: str) -> tuple[Callable[[str], str], Callable[[str], bool]]:
    whole = re.compile(pattern, re.IGNORECASE)

    def holds(text: str) -> bool:
        return whole.fullmatch(text) is not None

    def read(text: str) -> str:
        if holds(text.strip()):
            return text.strip()
        raise Unclear("VALUE_INVALID")

    return read, holds


def _is_phone(text: str) -> bool:
    return re.fullmatch(r"\+?[\d\s().\-/]+", text) is not None and 6 <= _digits(text) <= 15


def _read_phone(text: str) -> str:
    """The digits, and the plus before them."""
    if not _is_phone(text.strip()):
        raise Unclear("VALUE_INVALID")
    return re.sub(r"[^\d+]", "", text)


def _digits(text: str) -> int:
    return sum(char.isdigit() for char in text)


def _is_date(text: str) -> bool:
    try:
        return read_date(text) == text
    except Unclear:
        return False


FORMATS: Mapping[str, Format] = {
    "email": Format(_found(_EMAIL), *_as_it_is(_EMAIL)),
    "uri": Format(_found(_URI), *_as_it_is(_URI)),
    "uuid": Format(_found(_UUID), *_as_it_is(_UUID)),
    "date-time": Format(_found(DATE_TIME), read_date_time, is_date_time),
    "date": Format(_found(DATE), read_date, _is_date),
    "phone": Format(_found(_PHONE), _read_phone, _is_phone),
}


def telling(phone: str) -> bool:
    """True for a phone number that is one without being called so: a plus, ten digits, or groups as phones have."""
    return phone.startswith(("+", "00")) or _digits(phone) >= 10
