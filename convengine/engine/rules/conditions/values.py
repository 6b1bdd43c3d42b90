"""Values of conditions: how they are read and compared, and one evaluation with its limits and its record.

A JSON path compares exactly; rows of fields ignore case, and read numbers, dates and yes or no from texts.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeGuard

from convengine.engine.rules.conditions.time_points import compare_time_points, read_time_point
from convengine.engine.rules.text_bank import fold_case
from convengine.engine.text.compare import shorten
from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: Maximum work of one evaluation: values visited and compared. Counted, not timed, so that a replay decides alike; at
#: this size an evaluation takes less than 20 ms.
MAX_WORK = 20_000
#: Maximum nodes that `..` visits.
MAX_DESCENDANTS = 10_000
#: Maximum recorded comparisons of a path, and rows of a condition.
MAX_OPERANDS, MAX_ROWS = 20, 50
MAX_SHOWN = 200

OBJECTS = (dict, Mapping)
LISTS = (list, tuple)
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_YES = frozenset({"true", "yes", "y", "1", "on"})
_NO = frozenset({"false", "no", "n", "0", "off"})


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


#: Stands for a value that is not there, which is not the same as null.
MISSING: Any = _Missing()


class BudgetExceeded(Exception):
    """The evaluation exceeded its limit."""


class EvaluationScope:
    """One evaluation: the document and session that it reads, its work so far, and its comparisons.

    `tests_all`: every member of a group is tested and recorded, also after the result of the group is known.
    """

    __slots__ = ("_descendants", "_work", "document", "most", "operands", "session", "tests_all")

    def __init__(self, document: Json, session: Session | None = None, *, tests_all: bool = False) -> None:
        self.document = document
        self.session = session
        self.tests_all = tests_all
        #: How many comparisons are recorded.
        self.most = MAX_ROWS if tests_all else MAX_OPERANDS
        self._work = MAX_WORK
        self._descendants = MAX_DESCENDANTS
        self.operands: list[dict[str, Json]] = []

    @property
    def now(self) -> datetime | None:
        """The turn's clock. Returns None without a session."""
        return self.session.now if self.session else None

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

    def record_found(self, path: str, values: list[Json], result: bool) -> None:
        if len(self.operands) < self.most:
            first = shorten_value(values[0]) if values else None
            self.operands.append({"path": path, "value": first, "op": "exists", "literal": None, "result": result})


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


# --- reading ----------------------------------------------------------------------------------------------------


def is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_plain(value: Json) -> bool:
    """True for a text, a number or a boolean."""
    return isinstance(value, (str, int, float))


def write_text(value: Json) -> str:
    """A value as text; a list or object as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def is_blank(value: Json) -> bool:
    """True for null, a text of white space, and an empty list or object."""
    return not value.strip() if isinstance(value, str) else value is None or value in ([], (), {})


def get_length(value: Json) -> int | None:
    """The size of a text, list or object. Returns None for anything else."""
    return len(value) if isinstance(value, (str, *LISTS, *OBJECTS)) else None


def read_number(value: Json) -> Decimal | None:
    """A number, or the number that a text is. Returns None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        text = str(value)
    elif isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
    else:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def read_yes_no(value: Json) -> bool | None:
    """A boolean, or the boolean that a text is. Returns None for anything else."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def list_values(value: Json) -> list[Json]:
    """The values of a list; a text is split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value) if isinstance(value, LISTS) else [] if value is None else [value]


# --- comparing --------------------------------------------------------------------------------------------------


def are_equal(left: Json, right: Json, scope: EvaluationScope) -> bool:
    """True for values that are equal in a path.

    Null equals only null, a boolean only itself; a number equals its text, too.
    """
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if (isinstance(left, str) and is_number(right)) or (isinstance(right, str) and is_number(left)):
        return _are_same(read_number(left), read_number(right))
    if isinstance(left, LISTS) and isinstance(right, LISTS):
        return len(left) == len(right) and _all_equal(zip(left, right, strict=True), len(left), scope)
    if isinstance(left, OBJECTS) and isinstance(right, OBJECTS):
        if left.keys() != right.keys():
            return False
        return _all_equal(((value, right[key]) for key, value in left.items()), len(left), scope)
    return bool(left == right)


def _all_equal(pairs: Any, count: int, scope: EvaluationScope) -> bool:
    scope.spend(count)
    return all(are_equal(value, other, scope) for value, other in pairs)


def are_alike(left: Json, right: Json) -> bool:
    """True for values that are equal in a row.

    Texts are compared ignoring case, numbers by value, yes and no also as words; a number is also its text.
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return _are_same(read_yes_no(left), read_yes_no(right))
    if isinstance(left, str) and isinstance(right, str):
        return fold_case(left) == fold_case(right)
    return _are_same(read_number(left), read_number(right))


def _are_same(left: object, right: object) -> bool:
    """True for two values that could be read, and are equal."""
    return left is not None and left == right


def is_among(value: Json, wanted: Json) -> bool:
    return any(are_alike(value, member) for member in list_values(wanted))


def compare_values(left: Json, right: Json, now: datetime | None) -> int | None:
    """-1, 0 or 1 for two numbers, or two dates or times. Returns None for anything else."""
    number, other = read_number(left), read_number(right)
    if number is not None and other is not None:
        return (number > other) - (number < other)
    return compare_times(left, right, now)


def compare_times(left: Json, right: Json, now: datetime | None) -> int | None:
    """-1, 0 or 1 for two dates or times. Returns None for anything else."""
    moment, other = read_time_point(left, now), read_time_point(right, now)
    return None if moment is None or other is None else compare_time_points(moment, other)
