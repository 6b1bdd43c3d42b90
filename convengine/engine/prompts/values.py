"""Values inside templates: how they print, what a missing name is, and what work they cost.

Work is counted, not timed, so that the result is deterministic.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from jinja2 import ChainableUndefined
from jinja2.runtime import Context

from convengine.json_value import Json


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


#: Work of one rendering, about a microsecond each: at most 200 ms.
MAX_WORK = 100_000
#: Maximum length of a text that a rendering, or an expression in it, makes.
MAX_OUTPUT = 256 * 1024
#: Maximum length of a list that an expression makes.
MAX_ITEMS = 10_000
#: Maximum content of a list or object on all levels, in characters; each entry counts some.
MAX_HELD = 4 * 1024 * 1024
_ENTRY = 16
#: The variable with the count of a rendering; no template can write this name.
KEY = " work"


class RenderLimit(ValueError):
    """The template exceeds its limit."""


class Work:
    """The remaining work of one rendering, the plain names that were missing or printed nothing, and the buttons.

    `truth`: how true and false are printed.
    """

    __slots__ = ("_left", "buttons", "empty", "missing", "truth")

    def __init__(self, truth: Mapping[bool, str] | None = None) -> None:
        self._left = MAX_WORK
        self.truth = truth
        self.missing: dict[str, None] = {}
        self.empty: dict[str, None] = {}
        #: The message that each button sends, by its label.
        self.buttons: dict[str, str] = {}

    def spend(self, amount: int) -> None:
        """Count some work. Raises RenderLimit."""
        self._left -= max(amount, 0)
        if self._left < 0:
            raise RenderLimit("The template does too much work.")


def get_work(context: Context) -> Work:
    """The count of the current rendering."""
    work: Work = context.parent[KEY]
    return work


def measure_cost(value: Any) -> int:
    """The cost of reading a value: its size."""
    if isinstance(value, str):
        return 1 + len(value) // 256
    return 1 + len(value) if isinstance(value, (list, tuple, dict)) else 1


def measure_deep_cost(value: Any) -> int:
    """The cost of reading a value on all levels. Raises RenderLimit for one that is too large.

    An entry that occurs twice counts twice: repeated `[a, a]` is small in memory, but takes forever to print or to
    compare.
    """
    if not isinstance(value, (list, tuple, dict)):
        return measure_cost(value)
    seen, held, stack = 0, 0, [value]
    while stack:
        entries = stack.pop()
        seen += len(entries)
        held += len(entries) * _ENTRY
        for entry in entries.values() if isinstance(entries, dict) else entries:
            if isinstance(entry, str):
                held += len(entry)
            elif isinstance(entry, (list, tuple, dict)):
                stack.append(entry)
        if held > MAX_HELD:
            raise RenderLimit(f"A list or object holds more than {MAX_HELD} characters.")
    return 1 + seen // 16 + held // 4096


def limit_value(value: Any) -> Any:
    """The value, unless it is too large. Raises RenderLimit."""
    if isinstance(value, str) and len(value) > MAX_OUTPUT:
        raise RenderLimit(f"A text grew longer than {MAX_OUTPUT} characters.")
    if isinstance(value, (list, tuple, dict)) and len(value) > MAX_ITEMS:
        raise RenderLimit(f"A list grew longer than {MAX_ITEMS} entries.")
    return value
