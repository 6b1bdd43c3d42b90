"""Values inside templates: how they print, and what a missing name is (pipeline-2 9.5)."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from jinja2 import ChainableUndefined

Json = Any


class Missing(ChainableUndefined):
    """A missing name, or a member of one: prints nothing, equals null, has no order."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Missing)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(None)

    def _never(self, other: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _never  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def to_text(value: Json) -> str:
    """The printed value: texts unchanged, null as nothing, everything else as compact JSON.

    Other objects (a function, a loop) print nothing.
    """
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, Missing):
        return ""
    if isinstance(value, (bool, int, float, list, tuple, Mapping)):
        return to_json(value)
    return value.isoformat() if isinstance(value, (date, datetime, time)) else ""


def to_json(value: Json) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return to_text(value) or None


def is_blank(value: Json) -> bool:
    """True for null, a missing name, and an empty text, list or object; false for 0 and false."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or isinstance(value, Missing) or (isinstance(value, (list, tuple, Mapping)) and not value)
