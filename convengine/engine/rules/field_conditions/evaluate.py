"""Test a condition on a session: each comparison has a result of its own, with both values."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.field_conditions.operators import Needs, is_blank
from convengine.engine.rules.field_conditions.parser import Comparison, Group
from convengine.engine.rules.field_conditions.time_points import read_time_point
from convengine.engine.rules.json_path.values import shorten_value
from convengine.engine.rules.verdict import Verdict, build_verdict
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.local_time import CLOCK, describe_clock
from convengine.engine.turn.session import Session

Json = Any
#: Short names of facts. A field of a form with such a name is `context.<name>`.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "message": ("userText",),
    "act": ("inputParams", "dialogue_act"),
    "acts": ("inputParams", "dialogue_act"),
    "params": ("inputParams",),
    "memory": ("contextSummary",),
}


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


_MISSING: Any = _Missing()
#: Operators that hold for a field without a value.
_ABOUT_ABSENCE = frozenset({"isEmpty"})


def evaluate_condition(condition: Group, session: Session) -> Verdict:
    """The verdict of a condition. All comparisons are tested, so that each has its result. Never raises."""
    operands: list[Mapping[str, Json]] = []
    document = collect_facts(session)
    return build_verdict(_evaluate_group(condition, document, session, operands), tuple(operands))


def _evaluate_group(group: Group, document: Mapping[str, Json], session: Session, operands: list[Any]) -> bool:
    results = [
        _evaluate_group(member, document, session, operands)
        if isinstance(member, Group)
        else _evaluate_comparison(member, document, session, operands)
        for member in group.members
    ]
    return (all(results) if group.combinator == "and" else any(results)) is not group.negated


def _evaluate_comparison(
    comparison: Comparison, document: Mapping[str, Json], session: Session, operands: list[Any]
) -> bool:
    operator, literal = comparison.operator, comparison.value
    value = _read_field(comparison.field, document, session)
    operand: dict[str, Json] = {"path": comparison.field, "value": _show(value), "op": operator.name}
    if comparison.from_field:
        literal = _read_field(comparison.value, document, session)
        operand["literalPath"] = comparison.value
    operand["literal"] = _show(literal)
    if value is _MISSING:
        operand["missing"] = True
    holds = _holds(comparison, value, literal, session)
    if operator.needs is Needs.TIME and (point := read_time_point(literal, session.now)) is not None:
        text = point.isoformat()
        if text != literal:
            operand["literalValue"] = text
    operands.append({**operand, "result": holds})
    return holds


def _holds(comparison: Comparison, value: Json, literal: Json, session: Session) -> bool:
    operator = comparison.operator
    if value is _MISSING or (value is None and operator.name not in _ABOUT_ABSENCE):
        return False
    if comparison.from_field and (literal is _MISSING or (operator.needs is not Needs.NOTHING and is_blank(literal))):
        return False
    try:
        return operator.test(value, literal, session.now)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        # The value of another field, or one of a kind that the operator does not know.
        return False


def _read_field(name: str, document: Mapping[str, Json], session: Session) -> Json:
    """The value of a field; null for a field of the form without one, MISSING for a name that nothing has."""
    first, *rest = name.split(".")
    if first == CLOCK:
        return _walk(describe_clock(session.now), rest)
    if first == "memory" and rest:
        return _walk(document, ["context", "memory", *rest])
    if first in ALIASES:
        return _walk(document, [*ALIASES[first], *rest])
    if name in document:
        return document[name]
    value = _walk(document, [first, *rest])
    if value is _MISSING and first in ("context", "schemaJson") and rest:
        first, *rest = rest
    return None if value is _MISSING and not rest and _is_form_field(first, session) else value


def _walk(value: Json, keys: list[str]) -> Json:
    for key in keys:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, (list, tuple)) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def _is_form_field(name: str, session: Session) -> bool:
    schema = session.resolved_schema.json_schema if session.resolved_schema else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return isinstance(properties, Mapping) and name in properties


def _show(value: Json) -> Json:
    """The value for the record: the beginning of a long one, null for a missing one."""
    return None if value is _MISSING else shorten_value(value)
