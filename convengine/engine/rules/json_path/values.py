"""Comparison of values in a condition: null equals null only, a number equals its text (pipeline-2 0.8).

The work of an evaluation is counted and limited.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from convengine.engine.text.compare import shorten

Json = Any

#: Maximum work of one evaluation: values visited and compared. Counted, not timed, so that a replay decides alike; at
#: this size an evaluation takes less than 20 ms (pipeline-2 0.8).
MAX_WORK = 20_000
#: Maximum nodes that `..` visits.
MAX_DESCENDANTS = 10_000
MAX_OPERANDS = 20
MAX_SHOWN = 200


class BudgetExceeded(Exception):
    """The evaluation exceeded its limit."""


class Meter:
    """Counts the work of one evaluation and records its comparisons."""

    __slots__ = ("_descendants", "_work", "operands")

    def __init__(self) -> None:
        self._work = MAX_WORK
        self._descendants = MAX_DESCENDANTS
        self.operands: list[dict[str, Json]] = []

    def spend(self, work: int) -> None:
        """Count some work. Raises BudgetExceeded."""
        self._work -= work
        if self._work < 0:
            raise BudgetExceeded

    def visit(self) -> None:
        """Count a node of `..`. Raises BudgetExceeded."""
        self._descendants -= 1
        if self._descendants < 0:
            raise BudgetExceeded

    def record(self, path: str, value: Json, op: str, literal: Json, result: bool, other: str | None = None) -> bool:
        """Record a comparison and return its result. `other` is the path of the right side, if it is a path."""
        if len(self.operands) < MAX_OPERANDS:
            record = {
                "path": path,
                "value": shorten_value(value),
                "op": op,
                "literal": shorten_value(literal),
                "result": result,
            }
            if other is not None:
                record["literalPath"] = other
            self.operands.append(record)
        return result


def shorten_value(value: Json) -> Json:
    """The value, or the beginning of its JSON if that is long."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return shorten(value, MAX_SHOWN)
    pieces, size = [], 0
    # In pieces, so that a large document costs no more than its shown part.
    for piece in _ENCODER.iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_SHOWN:
            return "".join(pieces)[: MAX_SHOWN - 1] + "…"
    return value


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


#: Adds to the work of an evaluation; raises if it is too much.
Spend = Callable[[int], None]

OBJECTS = (dict, Mapping)
LISTS = (list, tuple)
_NUMERIC = re.compile(r"[+-]?[0-9]{1,30}(?P<fraction>\.[0-9]{1,30})?(?P<exponent>[eE][+-]?[0-9]{1,4})?")


def is_number(value: Json) -> TypeGuard[int | float]:
    """True for a number, but not for a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(text: str) -> int | float | None:
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    return float(text) if match["fraction"] or match["exponent"] else int(text)


def are_equal(left: Json, right: Json, spend: Spend) -> bool:
    """`==`: null equals only null, a boolean only itself, a number also its text."""
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, str) and is_number(right):
        left = _number(left)
    elif isinstance(right, str) and is_number(left):
        right = _number(right)
    elif isinstance(left, LISTS) and isinstance(right, LISTS):
        return len(left) == len(right) and _all_equal(zip(left, right, strict=True), len(left), spend)
    elif isinstance(left, OBJECTS) and isinstance(right, OBJECTS):
        if left.keys() != right.keys():
            return False
        return _all_equal(((value, right[key]) for key, value in left.items()), len(left), spend)
    return bool(left == right)


def _all_equal(pairs: Any, count: int, spend: Spend) -> bool:
    spend(count)
    return all(are_equal(value, other, spend) for value, other in pairs)


def _build_comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Json, Json, Spend], bool]:
    def decide(left: Json, right: Json, spend: Spend) -> bool:
        if is_number(left) and is_number(right):
            return compare(left, right)
        return isinstance(left, str) and isinstance(right, str) and compare(left, right)

    return decide


def _member(value: Json, members: Json, spend: Spend) -> bool:
    if not isinstance(members, LISTS):
        return False
    spend(len(members))
    return any(are_equal(value, member, spend) for member in members)


def _contains(left: Json, right: Json, spend: Spend) -> bool:
    if isinstance(left, str):
        spend(len(left) // 1000)
        return isinstance(right, str) and right in left
    return _member(right, left, spend)


def _anyof(left: Json, right: Json, spend: Spend) -> bool:
    return isinstance(left, LISTS) and any(_member(value, right, spend) for value in left)


def _subsetof(left: Json, right: Json, spend: Spend) -> bool:
    return isinstance(left, LISTS) and isinstance(right, LISTS) and all(_member(value, right, spend) for value in left)


def _empty(left: Json, right: Json, spend: Spend) -> bool:
    return isinstance(left, (str, *LISTS, *OBJECTS)) and isinstance(right, bool) and (len(left) == 0) is right


def _size(left: Json, right: Json, spend: Spend) -> bool:
    return is_number(right) and get_length(left) == right


def get_length(value: Json) -> int | None:
    """The size of a text, list or object; null for anything else."""
    return len(value) if isinstance(value, (str, *LISTS, *OBJECTS)) else None


#: The test of each operator. A path without a value is null here.
OPERATORS: Mapping[str, Callable[[Json, Json, Spend], bool]] = {
    "==": are_equal,
    "!=": lambda left, right, spend: not are_equal(left, right, spend),
    "<": _build_comparison(lambda left, right: left < right),
    "<=": _build_comparison(lambda left, right: left <= right),
    ">": _build_comparison(lambda left, right: left > right),
    ">=": _build_comparison(lambda left, right: left >= right),
    "in": _member,
    "nin": lambda left, right, spend: not _member(left, right, spend),
    "contains": _contains,
    "anyof": _anyof,
    "noneof": lambda left, right, spend: isinstance(left, LISTS) and not _anyof(left, right, spend),
    "subsetof": _subsetof,
    "all": lambda left, right, spend: _subsetof(right, left, spend),
    "empty": _empty,
    "size": _size,
}
