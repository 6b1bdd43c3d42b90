"""Conditions tested on the facts of a turn."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.rules.conditions.operators import OPERATORS, Needs
from convengine.engine.rules.conditions.rule import evaluate_rule, find_fault
from convengine.engine.rules.verdict import NOT_MET, ROW_INVALID, Verdict
from convengine.engine.turn.session import Session
from tests.builders import make_rule, make_schema, make_session

NOW = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
#: A fitting value for each operator.
VALUES = {
    Needs.NOTHING: None,
    Needs.TEXT: "a",
    Needs.PATTERN: "a",
    Needs.LIST: ["a"],
    Needs.COUNT: 1,
    Needs.TIME: "today",
    Needs.RANGE: [1, 2],
}


def get_value(name: str) -> Any:
    """A value that the operator takes."""
    return OPERATORS[name].values or VALUES[OPERATORS[name].needs]


def run(session: Session, *rules: Any, **keys: Any) -> Verdict:
    document = {"combinator": "and", "rules": list(rules), **keys}
    return evaluate_rule(make_rule(rule_type="CONDITION", match_pattern=json.dumps(document)), session)


def holds(session: Session, field: str, operator: str, value: Any = None, **keys: Any) -> bool:
    return run(session, {"field": field, "operator": operator, "value": value, **keys}).matched


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("date", "2026-12-05"),
        ("context.date", "2026-12-05"),
        ("schemaJson.date", "2026-12-05"),
        ("order.lines.1", "desk"),
        ("intent", "BOOK"),
        ("state", "COLLECT"),
        ("message", "tomorrow please"),
        ("userText", "tomorrow please"),
        ("act", "ANSWER"),
        ("params.dialogue_act", "ANSWER"),
        ("inputParams.dialogue_act", "ANSWER"),
        ("memory", "GOAL: book"),
        ("memory.session_summary", "short"),
        ("clock.now", "2026-11-21T14:30:00+00:00"),
        ("clock.today", "2026-11-21"),
        ("clock.weekday", "saturday"),
        ("clock.hour", 14),
    ],
)
def test_a_condition_reads_the_facts_that_rules_see(field: str, value: Any) -> None:
    session = make_session(
        now=NOW,
        intent="BOOK",
        state="COLLECT",
        user_text="tomorrow please",
        context={
            "date": "2026-12-05",
            "order": {"lines": ["lamp", "desk"]},
            "memory": {"session_summary": "short"},
            "clock": {"today": "never"},
        },
        input_params={"dialogue_act": "ANSWER"},
        context_summary="GOAL: book",
    )

    assert holds(session, field, "is", value)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_missing_field_makes_every_operator_false(name: str) -> None:
    verdict = run(
        make_session(now=NOW),
        {"field": "nope.x", "operator": name, "value": get_value(name)},
    )

    assert not verdict.matched
    assert verdict.operands[0]["missing"] is True


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("value", ["", "x" * 10_000, -1.5, True, [], ["a", {"b": 1}], {"a": {}}, None, float("nan")])
def test_no_value_of_a_field_makes_an_operator_fail(name: str, value: Any) -> None:
    session = make_session(now=NOW, context={"x": value})

    assert run(session, {"field": "x", "operator": name, "value": get_value(name)}).reason in (
        None,
        NOT_MET,
    )


def test_a_field_of_the_form_without_a_value_is_empty() -> None:
    session = make_session(resolved_schema=make_schema("BOOK", {"date": {"type": "string"}}))

    assert holds(session, "date", "isEmpty")
    assert holds(session, "context.date", "isEmpty")
    assert not holds(session, "date", "isNot", "2026-12-05")
    assert not holds(session, "time", "isEmpty")


def test_all_of_needs_every_row_and_any_of_needs_one() -> None:
    session = make_session(context={"a": 1})
    rows = ({"field": "a", "operator": "=", "value": 1}, {"field": "a", "operator": "=", "value": 2})

    assert not run(session, *rows).matched
    assert run(session, *rows, combinator="or").matched
    assert run(session, *rows, **{"not": True}).matched
    assert not run(session, {"combinator": "or", "not": True, "rules": list(rows)}).matched


def test_each_row_has_its_own_result_with_both_values() -> None:
    session = make_session(now=NOW, context={"date": "2026-11-22", "guests": 4, "limit": 3})
    verdict = run(
        session,
        {"field": "date", "operator": "before", "value": "today+2d"},
        {"field": "guests", "operator": "<=", "value": "limit", "valueSource": "field"},
        {"field": "name", "operator": "is", "value": "Ann"},
    )

    assert verdict.reason == NOT_MET
    assert verdict.operands == (
        {
            "path": "date",
            "value": "2026-11-22",
            "op": "before",
            "literal": "today+2d",
            "literalValue": "2026-11-23",
            "result": True,
        },
        {"path": "guests", "value": 4, "op": "<=", "literalPath": "limit", "literal": 3, "result": False},
        {"path": "name", "value": None, "op": "is", "literal": "Ann", "missing": True, "result": False},
    )


def test_another_field_that_is_missing_makes_the_row_false() -> None:
    session = make_session(context={"a": 1})

    assert not holds(session, "a", "isNot", "b", valueSource="field")


def test_a_value_of_another_field_that_does_not_fit_makes_the_row_false() -> None:
    session = make_session(context={"a": "1", "b": "(", "c": [1]})

    assert not holds(session, "a", "matches", "b", valueSource="field")
    assert not holds(session, "a", "between", "c", valueSource="field")


def test_the_clock_decides_by_the_time_zone_of_the_turn() -> None:
    late = datetime.fromisoformat("2026-11-21T00:30:00+01:00")

    assert holds(make_session(now=late, context={"date": "2026-11-21"}), "date", "on", "today")
    assert not holds(make_session(now=late.astimezone(UTC), context={"date": "2026-11-21"}), "date", "on", "today")


def test_without_a_clock_relative_times_are_never_met() -> None:
    assert not holds(make_session(context={"date": "2026-11-21"}), "date", "after", "today")


def test_a_condition_that_cannot_be_read_is_an_unusable_row() -> None:
    rule = make_rule(rule_type="CONDITION", match_pattern='{"combinator": "and", "rules": []}')
    fault = find_fault(rule)

    assert evaluate_rule(rule, make_session()).reason == ROW_INVALID
    assert fault is not None
    assert fault.field == "match_pattern"
