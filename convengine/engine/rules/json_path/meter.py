"""The work limit of one evaluation, and its recorded comparisons."""

import json
from typing import Any

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
