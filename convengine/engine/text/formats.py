"""The known formats: how to find one in a text, how to store it, and how to test a value (R8, R10)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from convengine.engine.text.dates import DATE, DATE_TIME, Unclear, is_date_time, read_date, read_date_time

_EMAIL = r"[\w.%+'-]+@(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,}"
_URI = r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_GROUP = r"(?:[\s.\-/]?\(\d{1,5}\)|[\s.\-/]\d{3,8}|[\s.\-/]\d{2}(?!\d|\s?[a-z]))"
_PHONE = rf"(?:\+\d{{6,15}}|\d{{7,15}}|(?:\+\d{{1,3}}[\s.-]?)?(?:\(\d{{1,5}}\)[\s.-]?)?\d{{2,5}}{_GROUP}{{1,5}})"


@dataclass(frozen=True)
class Format:
    """One format. Patterns are for folded texts; `read` returns the value to store, or raises Unclear."""

    pattern: re.Pattern[str]
    read: Callable[[str], str]
    #: True for a text that is already in the stored format.
    holds: Callable[[str], bool]


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, not touching a longer word, number or id."""
    return re.compile(rf"(?<![\w@+/#-])(?<!\d[.,:]){pattern}(?![\w@/#-]|[.,:]\d)", re.IGNORECASE)


def _keep_as_written(pattern: str) -> tuple[Callable[[str], str], Callable[[str], bool]]:
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
    """The digits with an optional leading plus."""
    if not _is_phone(text.strip()):
        raise Unclear("VALUE_INVALID")
    return re.sub(r"[^\d+]", "", text)


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _is_date(text: str) -> bool:
    try:
        return read_date(text) == text
    except Unclear:
        return False


FORMATS: Mapping[str, Format] = {
    "email": Format(_compile_pattern(_EMAIL), *_keep_as_written(_EMAIL)),
    "uri": Format(_compile_pattern(_URI), *_keep_as_written(_URI)),
    "uuid": Format(_compile_pattern(_UUID), *_keep_as_written(_UUID)),
    "date-time": Format(_compile_pattern(DATE_TIME), read_date_time, is_date_time),
    "date": Format(_compile_pattern(DATE), read_date, _is_date),
    "phone": Format(_compile_pattern(_PHONE), _read_phone, _is_phone),
}


def is_evident_phone(phone: str) -> bool:
    """True for an obvious phone number: with a plus, ten digits, or groups as phones have."""
    return phone.startswith(("+", "00")) or _digits(phone) >= 10
