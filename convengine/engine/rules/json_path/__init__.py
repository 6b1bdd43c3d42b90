"""JSON paths of rules: parsed by jsonpath-ng, evaluated here (R7)."""

from functools import lru_cache
from typing import Any

from convengine.engine.rules.json_path.compile import MISSING, compile_selector, compile_walker
from convengine.engine.rules.json_path.nodes import Path, PathError, format_path
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.rules.json_path.values import LISTS, OBJECTS, BudgetExceeded, Meter
from convengine.engine.rules.verdict import Verdict, build_verdict

Json = Any

BUDGET_EXCEEDED = "EVALUATION_BUDGET_EXCEEDED"


class JsonPath:
    """A compiled path. Evaluation never raises, changes nothing, and does a limited amount of work."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self._select = compile_selector(path)
        self._walk = compile_walker(path) if path.definite else None
        self._filtered = path.filtered
        self._written = format_path(path)

    def find(self, document: Json) -> list[Json]:
        """All values of the path, in document order; none if the evaluation costs too much."""
        return self._find(document, Meter()) or []

    def first(self, document: Json) -> tuple[bool, Json]:
        """(True, the first value), or (False, null) without a hit."""
        values = self.find(document)
        return (True, values[0]) if values else (False, None)

    def test(self, document: Json, null_leaf_matches: bool = True) -> Verdict:
        """Test the path as a condition: false without a hit; if one boolean is the only hit, its value; else true.

        Without `null_leaf_matches`, null, blank texts, and empty lists and objects are no hits of a path without a
        filter.
        """
        meter = Meter()
        values = self._find(document, meter)
        if values is None:
            return Verdict(False, BUDGET_EXCEEDED, tuple(meter.operands))
        if not null_leaf_matches and not self._filtered:
            values = [value for value in values if not _empty(value)]
        matched = values[0] if len(values) == 1 and isinstance(values[0], bool) else bool(values)
        if not meter.operands:
            meter.record(self._written, values[0] if values else None, "exists", None, matched)
        return build_verdict(matched, tuple(meter.operands))

    def _find(self, document: Json, meter: Meter) -> list[Json] | None:
        try:
            if self._walk is not None:
                value = self._walk(document, document, meter)
                return [] if value is MISSING else [value]
            return self._select(document, document, meter)
        except (BudgetExceeded, RecursionError):
            return None


def _empty(value: Json) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, (*LISTS, *OBJECTS)) and not value)


@lru_cache(maxsize=8192)
def compile_path(text: str) -> JsonPath:
    """Compile a path. Raises PathError with a reason and a position."""
    return JsonPath(text, parse_path(text))


__all__ = ["BUDGET_EXCEEDED", "JsonPath", "PathError", "compile_path"]
