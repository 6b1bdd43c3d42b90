"""Conditions of rules as rows of fields and values: read, described for editors and imports, made from a JSON path."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import (
    Comparison,
    Condition,
    ConditionField,
    Group,
    Literal,
    Members,
    Path,
    PathError,
)
from convengine.engine.rules.conditions.operators import OPERATORS, Operator, find_value_problem, get_operator
from convengine.engine.rules.conditions.values import MAX_ROWS
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn.fault import Fault
from convengine.json_value import Json

#: Limits of a condition: groups inside groups, and the length of a field's name.
MAX_LEVELS = 3
MAX_NAME = 200
_REMEDY = "Choose a field, an operator and a value in every row."
_GROUP_KEYS = frozenset({"combinator", "not", "rules", "id"})
_COMPARISON_KEYS = frozenset({"field", "operator", "value", "valueSource", "id"})
_ID = "https://convengine.invalid/condition.schema.json"
#: Short names of facts that have one, by path.
_NAMES: Mapping[str, str] = {"userText": "message", "inputParams.dialogue_act": "act"}


class ConditionError(ValueError):
    """An unusable condition. `path` names the part, such as `rules[1].value`; blank for the whole."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def fault(self, field: str, text: str) -> Fault:
        where = f" ({self.path})" if self.path else ""
        return Fault(f"{self.reason}{where}", field, text, _REMEDY)


@lru_cache(maxsize=8192)
def parse_condition(text: str) -> Group:
    """Read a condition. Raises ConditionError with a reason and the part."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ConditionError("The condition is not valid JSON.") from None
    if isinstance(document, dict) and "field" in document:
        document = {"combinator": "and", "rules": [document]}
    group = _parse_group(document, "", 1)
    count = sum(1 for _ in group.list_comparisons())
    if count > MAX_ROWS:
        raise ConditionError(f"The condition has {count} rows. At most {MAX_ROWS} are allowed.")
    return group


def list_fields(condition: Group) -> list[str]:
    """The names of all fields that rows compare, each once."""
    operands = (operand for row in condition.list_comparisons() for operand in (row.left, row.right))
    return list(dict.fromkeys(operand.name for operand in operands if isinstance(operand, ConditionField)))


def _parse_group(document: Json, path: str, level: int) -> Group:
    """A group with its members. Raises ConditionError.

    `path` names the group in messages; `level` is 1 for the whole condition.
    """
    if not isinstance(document, Mapping):
        raise ConditionError("A group must be an object with combinator and rules.", path)
    _refuse_unknown_keys(document, _GROUP_KEYS, path)
    if level > MAX_LEVELS:
        raise ConditionError(f"Groups may be nested in at most {MAX_LEVELS} levels.", path)
    combinator = str(document.get("combinator", "and")).strip().lower()
    if combinator not in ("and", "or"):
        raise ConditionError('The combinator must be "and" or "or".', _join(path, "combinator"))
    negated, members = document.get("not", False), document.get("rules")
    if not isinstance(negated, bool):
        raise ConditionError("not must be true or false.", _join(path, "not"))
    if not isinstance(members, list) or not members:
        raise ConditionError("A group needs at least one row.", _join(path, "rules"))
    parsed: list[Group | Comparison] = []
    for index, member in enumerate(members):
        part, is_row = _join(path, f"rules[{index}]"), isinstance(member, Mapping) and "field" in member
        parsed.append(_parse_comparison(member, part) if is_row else _parse_group(member, part, level + 1))
    return Group(combinator, negated, tuple(parsed))


def _parse_comparison(document: Mapping[str, Json], path: str) -> Comparison:
    """A row, with a value that fits its operator or the name of another field. Raises ConditionError."""
    _refuse_unknown_keys(document, _COMPARISON_KEYS, path)
    field, name, value = document["field"], document.get("operator"), document.get("value")
    if not isinstance(field, str) or not field.strip() or len(field) > MAX_NAME:
        raise ConditionError("Choose a field.", _join(path, "field"))
    operator = get_operator(name) if isinstance(name, str) else None
    if operator is None:
        hint = did_you_mean(str(name or ""), OPERATORS)
        raise ConditionError(
            f"Unknown operator {name}.{hint}" if name else "Choose an operator.", _join(path, "operator")
        )
    source = document.get("valueSource", "value")
    if source not in ("value", "field"):
        raise ConditionError('valueSource must be "value" or "field".', _join(path, "valueSource"))
    if source == "field":
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
            raise ConditionError("Choose the other field.", _join(path, "value"))
        return Comparison(ConditionField(field.strip()), operator, ConditionField(value.strip()))
    if problem := find_value_problem(operator, value):
        raise ConditionError(f"“{operator.label}” {problem}.", _join(path, "value"))
    return Comparison(ConditionField(field.strip()), operator, Literal(value))


def _refuse_unknown_keys(document: Mapping[str, Json], known: frozenset[str], path: str) -> None:
    for key in document:
        if key not in known:
            raise ConditionError(f"Unknown key {key}.{did_you_mean(str(key), known)}", path)


def _join(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part


def build_condition_schema() -> dict[str, Any]:
    """The schema. It counts rows per group; the check on saving counts those of the whole condition."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID,
        "title": "Condition of a rule",
        "description": (
            f"Groups of comparisons in the shape of react-querybuilder: at most {MAX_LEVELS} levels and "
            f"{MAX_ROWS} comparisons."
        ),
        "$ref": "#/$defs/group1",
        "$defs": {
            **{f"group{level}": _describe_group(level) for level in range(1, MAX_LEVELS + 1)},
            "comparison": _describe_comparison(),
        },
    }


def _describe_group(level: int) -> Mapping[str, Any]:
    """The schema of a group; at the last level it has no groups as members."""
    comparison = {"$ref": "#/$defs/comparison"}
    members = [comparison, {"$ref": f"#/$defs/group{level + 1}"}] if level < MAX_LEVELS else [comparison]
    return {
        "type": "object",
        "required": ["combinator", "rules"],
        "additionalProperties": False,
        "properties": {
            "combinator": {"enum": ["and", "or"], "description": "Must all, or any, of the rules hold?"},
            "not": {"type": "boolean", "default": False, "description": "True: the opposite of the group holds."},
            "rules": {"type": "array", "minItems": 1, "maxItems": MAX_ROWS, "items": {"anyOf": members}},
            "id": {"type": "string"},
        },
    }


def _describe_comparison() -> Mapping[str, Any]:
    """The schema of a comparison; whether its value fits the operator is checked on saving."""
    return {
        "type": "object",
        "required": ["field", "operator"],
        "additionalProperties": False,
        "properties": {
            "field": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_NAME,
                "description": "A field of the form, intent, state, message, act, params.name, memory, clock.today.",
            },
            "operator": {
                "oneOf": [
                    {"const": operator.name, "title": operator.label, "description": f"Needs {operator.needs.words}."}
                    for operator in OPERATORS.values()
                ]
            },
            "value": {
                "type": ["string", "number", "boolean", "array", "null"],
                "items": {"type": ["string", "number", "boolean"]},
                "description": "Dates may be relative: today, today+2d, now-3h.",
            },
            "valueSource": {
                "enum": ["value", "field"],
                "default": "value",
                "description": "field: the value is the name of another field.",
            },
            "id": {"type": "string"},
        },
    }


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
