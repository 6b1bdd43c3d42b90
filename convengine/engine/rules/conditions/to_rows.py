"""A JSON path as rows of fields and values, where rows can say the same."""

import json
from collections.abc import Mapping

from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import Comparison, Condition, Group, Literal, Members, Path, PathError
from convengine.engine.rules.conditions.operators import Operator
from convengine.engine.rules.conditions.rows import ConditionError, parse_condition
from convengine.json_value import Json

#: Short names of facts that have one, by path.
_NAMES: Mapping[str, str] = {"userText": "message", "inputParams.dialogue_act": "act"}


class _NoCounterpart(Exception):
    """A part of the path that rows cannot say."""


def convert_path(text: str) -> str | None:
    """The rows that hold when the path does, as JSON. Returns None for a path that says more.

    Rows compare texts without regard to case, and read a text such as "yes" as true.
    """
    try:
        condition = parse_path(text).filter
        if condition is None:
            return None
        document = _convert(condition)
        rows = json.dumps(document if "rules" in document else _build_group("and", [document]), ensure_ascii=False)
        parse_condition(rows)
    except (PathError, _NoCounterpart, ConditionError):
        return None
    return rows


def _build_group(combinator: str, rules: list[Json], *, negated: bool = False) -> dict[str, Json]:
    return {"combinator": combinator, "not": negated, "rules": rules}


def _convert(condition: Condition) -> dict[str, Json]:
    """A condition as a row or a group of rows. Raises _NoCounterpart for what rows cannot say."""
    match condition:
        case Group(combinator, negated, members) if not negated or _is_comparison(members):
            return _build_group(combinator, [_convert(member) for member in members], negated=negated)
        case Comparison(Path() as path, Operator("!="), Literal(value)) if value is not None:
            # A missing value differs from every other one.
            return _build_group("and", [{"field": _name_field(path), **_choose_equality(value)}], negated=True)
        case Comparison(Path() as path, Operator("=="), Literal(value)):
            return {"field": _name_field(path), **_choose_equality(value)}
        case Comparison(Path() as path, operator, Literal(value)) if operator.of_row and value is not None:
            if not isinstance(value, bool):
                return {"field": _name_field(path), "operator": operator.of_row, "value": value}
    raise _NoCounterpart


def _is_comparison(members: tuple[Condition, ...]) -> bool:
    return len(members) == 1 and isinstance(members[0], Comparison)


def _choose_equality(value: Json) -> dict[str, Json]:
    """The operator and the value of a row for "is equal". Raises _NoCounterpart for lists, objects and null."""
    if isinstance(value, bool):
        return {"operator": "isYes" if value else "isNo"}
    if isinstance(value, (str, int, float)):
        return {"operator": "is" if isinstance(value, str) else "=", "value": value}
    raise _NoCounterpart


def _name_field(path: Path) -> str:
    """The name that rows have for a path. Raises _NoCounterpart for a path that is more than names."""
    dotted = path.dotted
    if dotted is None or any("." in name for step in path.steps if isinstance(step, Members) for name in step.names):
        raise _NoCounterpart
    if dotted in _NAMES:
        return _NAMES[dotted]
    if dotted.split(".")[0] in ALIASES:
        # In rows, these are facts; in a path, they are fields of the context.
        return f"context.{dotted}"
    return dotted.replace("inputParams.", "params.", 1) if dotted.startswith("inputParams.") else dotted
