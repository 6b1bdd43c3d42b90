"""A JSON path as rows of fields and values, where rows can say the same (R116)."""

import json
from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.field_conditions.parser import ConditionError, parse_condition
from convengine.engine.rules.json_path.nodes import (
    Compare,
    Condition,
    Either,
    Every,
    Literal,
    Members,
    Not,
    Path,
    PathError,
    Where,
)
from convengine.engine.rules.json_path.parser import parse_path

Json = Any
#: Short names of facts that have one, by path.
_NAMES: Mapping[str, str] = {"userText": "message", "inputParams.dialogue_act": "act"}
_OPERATORS: Mapping[str, str] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "isOneOf", "contains": "contains"}


class _NoCounterpart(Exception):
    """A part of the path that rows cannot say."""


def convert_path(text: str) -> str | None:
    """The rows that hold when the path does, as JSON; null for a path that says more.

    Rows compare texts without regard to case, and read a text such as "yes" as true.
    """
    try:
        steps = parse_path(text).steps
        if len(steps) != 1 or not isinstance(steps[0], Where):
            return None
        condition = _convert(steps[0].condition)
        document = condition if "rules" in condition else _build_group("and", [condition])
        rows = json.dumps(document, ensure_ascii=False)
        parse_condition(rows)
    except (PathError, _NoCounterpart, ConditionError):
        return None
    return rows


def _build_group(combinator: str, rules: list[Json], *, negated: bool = False) -> dict[str, Json]:
    return {"combinator": combinator, "not": negated, "rules": rules}


def _convert(condition: Condition) -> dict[str, Json]:
    match condition:
        case Every(terms):
            return _build_group("and", [_convert(term) for term in terms])
        case Either(terms):
            return _build_group("or", [_convert(term) for term in terms])
        case Not(Compare() as term):
            return _build_group("and", [_convert(term)], negated=True)
        case Compare(Path() as path, "!=", Literal() as literal) if literal.value is not None:
            # A missing value differs from every other one.
            return _build_group("and", [_convert(Compare(path, "==", literal))], negated=True)
        case Compare(Path() as path, op, Literal(value)):
            return {"field": _name_field(path), **_choose_operator(op, value)}
    raise _NoCounterpart


def _choose_operator(op: str, value: Json) -> dict[str, Json]:
    if op == "==" and isinstance(value, bool):
        return {"operator": "isYes" if value else "isNo"}
    if op == "==" and isinstance(value, (str, int, float)):
        return {"operator": "is" if isinstance(value, str) else "=", "value": value}
    if op in _OPERATORS and value is not None and not isinstance(value, bool):
        return {"operator": _OPERATORS[op], "value": list(value) if isinstance(value, tuple) else value}
    raise _NoCounterpart


def _name_field(path: Path) -> str:
    names = [step.names[0] for step in path.steps if isinstance(step, Members) and len(step.names) == 1]
    if not names or len(names) < len(path.steps) or any("." in name for name in names):
        raise _NoCounterpart
    dotted = ".".join(names)
    if dotted in _NAMES:
        return _NAMES[dotted]
    if names[0] in ("message", "act", "acts", "params", "memory"):
        # In rows, these are facts; in a path, they are fields of the context.
        return f"context.{dotted}"
    return dotted.replace("inputParams.", "params.", 1) if dotted.startswith("inputParams.") else dotted
