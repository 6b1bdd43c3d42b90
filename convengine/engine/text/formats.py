"""The formats of JSON Schema that jsonschema does not check itself, or not as the engine stores them."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

_EMAIL = re.compile(r"[\w.%+'-]+@(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,}")
_URI = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]", re.IGNORECASE)
_PHONE = re.compile(r"\+?[\d\s().\-/]+")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")


def _is_phone(text: str) -> bool:
    return _PHONE.fullmatch(text) is not None and 6 <= sum(map(str.isdigit, text)) <= 15


def _is_date_time(text: str) -> bool:
    """True for a date-time of RFC 3339."""
    try:
        return bool(_DATE_TIME.fullmatch(text) and datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


#: For each format: is a stored text in it?
FORMATS: Mapping[str, Callable[[str], bool]] = {
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "date-time": _is_date_time,
    "phone": _is_phone,
}
