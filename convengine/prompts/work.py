"""How much one rendering may do. Counted, not timed: the same template and values always end the same way (law 3)."""

from typing import Any

from jinja2.runtime import Context

#: Work of one rendering, about a microsecond each: 200 ms at the outside (pipeline-2 9.5).
MAX_WORK = 100_000
#: Longest text that a rendering, or any expression in it, may make.
MAX_OUTPUT = 256 * 1024
#: Longest list that an expression may make.
MAX_ITEMS = 10_000
#: How much a list or object may hold on all its levels together, in characters; an entry counts as some.
MAX_HELD = 4 * 1024 * 1024
_ENTRY = 16
#: Where a rendering keeps its count among the variables; no template can say this name.
KEY = " work"


class RenderLimit(ValueError):
    """The template does more than a template may."""


class Work:
    """The count of one rendering, and the plain names that turned out to be missing."""

    __slots__ = ("_left", "missing")

    def __init__(self) -> None:
        self._left = MAX_WORK
        self.missing: dict[str, None] = {}

    def spend(self, amount: int) -> None:
        """Count some work. Raises RenderLimit."""
        self._left -= max(amount, 0)
        if self._left < 0:
            raise RenderLimit("The template does too much work.")


def work_of(context: Context) -> Work:
    """The count of the rendering that is going on."""
    found: Work = context.parent[KEY]
    return found


def cost(value: Any) -> int:
    """What looking at a value costs: its size."""
    if isinstance(value, str):
        return 1 + len(value) // 256
    return 1 + len(value) if isinstance(value, (list, tuple, dict)) else 1


def deep_cost(value: Any) -> int:
    """What looking into a value on all its levels costs. Raises RenderLimit for one that holds too much.

    An entry that is named twice counts twice: `[a, a]` made again and again from itself is small in memory, and takes
    for ever to print or to compare.
    """
    if not isinstance(value, (list, tuple, dict)):
        return cost(value)
    seen, held, left = 0, 0, [value]
    while left:
        entries = left.pop()
        seen += len(entries)
        held += len(entries) * _ENTRY
        for entry in entries.values() if isinstance(entries, dict) else entries:
            if isinstance(entry, str):
                held += len(entry)
            elif isinstance(entry, (list, tuple, dict)):
                left.append(entry)
        if held > MAX_HELD:
            raise RenderLimit(f"A list or object holds more than {MAX_HELD} characters.")
    return 1 + seen // 16 + held // 4096


def limited(value: Any) -> Any:
    """The value, when it is not too large. Raises RenderLimit."""
    if isinstance(value, str) and len(value) > MAX_OUTPUT:
        raise RenderLimit(f"A text grew longer than {MAX_OUTPUT} characters.")
    if isinstance(value, (list, tuple, dict)) and len(value) > MAX_ITEMS:
        raise RenderLimit(f"A list grew longer than {MAX_ITEMS} entries.")
    return value
