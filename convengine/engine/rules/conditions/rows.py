"""Rows of fields, operators and values as a rule stores them: JSON in the shape of react-querybuilder."""

import json
from collections.abc import Mapping
from functools import lru_cache

from convengine.engine.rules.conditions.nodes import Comparison, Field, Group, Literal
from convengine.engine.rules.conditions.operators import OPERATORS, find_value_problem, get_operator
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
    return list(dict.fromkeys(operand.name for operand in operands if isinstance(operand, Field)))


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
        return Comparison(Field(field.strip()), operator, Field(value.strip()))
    if problem := find_value_problem(operator, value):
        raise ConditionError(f"“{operator.label}” {problem}.", _join(path, "value"))
    return Comparison(Field(field.strip()), operator, Literal(value))


def _refuse_unknown_keys(document: Mapping[str, Json], known: frozenset[str], path: str) -> None:
    for key in document:
        if key not in known:
            raise ConditionError(f"Unknown key {key}.{did_you_mean(str(key), known)}", path)


def _join(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part
