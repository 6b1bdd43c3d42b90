"""Dialogue 8, row by row: what the rows of a condition compare, in turns of a flow."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convengine.engine.rules.conditions.operators import OPERATORS
from tests.dialogues.rows.worlds import DENTIST, find_event, make_caller, make_setting, say

pytestmark = pytest.mark.django_db

NOW = datetime.now(UTC)
#: Operator, value; input params with which it holds, and with which it does not.
OPERATOR_CASES: dict[str, tuple[str, Any, Any, Any]] = {
    "text is": ("is", "gold", "Gold", "silver"),
    "text is not": ("isNot", "gold", "silver", "gold"),
    "text contains": ("contains", "old", "gold", "silver"),
    "text does not contain": ("doesNotContain", "old", "silver", "gold"),
    "text starts with": ("startsWith", "go", "gold", "old"),
    "text matches a pattern": ("matches", "^g.*d$", "gold", "old"),
    "text is one of": ("isOneOf", ["gold", "silver"], "silver", "tin"),
    "text is none of": ("isNoneOf", ["gold", "silver"], "tin", "gold"),
    "text is empty": ("isEmpty", None, "", "gold"),
    "text is not empty": ("isNotEmpty", None, "gold", ""),
    "in a month": ("inMonths", ["March"], "2026-03-05", "2026-04-05"),
    "not in a month": ("notInMonths", ["March"], "2026-04-05", "2026-03-05"),
    "on a weekday": ("onWeekdays", ["Sunday"], "2026-11-22", "2026-11-23"),
    "not on a weekday": ("notOnWeekdays", ["Sunday"], "2026-11-23", "2026-11-22"),
    "number =": ("=", 2, 2, 3),
    "number ≠": ("!=", 2, 3, 2),
    "number <": ("<", 2, 1, 2),
    "number ≤": ("<=", 2, 2, 3),
    "number >": (">", 2, 3, 2),
    "number ≥": (">=", 2, 2, 1),
    "number between": ("between", [1, 3], 3, 4),
    "date before": ("before", "today+2d", "2000-01-01", "2999-01-01"),
    "date on or before": ("onOrBefore", "today", "2000-01-01", "2999-01-01"),
    "date on or after": ("onOrAfter", "today", "2999-01-01", "2000-01-01"),
    "date after": ("after", "today", "2999-01-01", "2000-01-01"),
    "date on": ("on", "2030-05-05", "2030-05-05", "2030-05-06"),
    "date between": ("between", ["2030-05-01", "2030-05-09"], "2030-05-05", "2030-05-10"),
    "date within N days from now": ("withinDays", 3, f"{NOW + timedelta(days=1):%Y-%m-%d}", "2000-01-01"),
    "time within N hours from now": ("withinHours", 5, (NOW + timedelta(hours=2)).isoformat(), "2000-01-01T10:00"),
    "date more than N days ago": ("moreThanDaysAgo", 10, "2000-01-01", "2999-01-01"),
    "time more than N hours ago": ("moreThanHoursAgo", 10, "2000-01-01T10:00", "2999-01-01T10:00"),
    "list has": ("has", "lamp", ["lamp", "desk"], ["desk"]),
    "list has none": ("hasNone", "lamp", ["desk"], ["lamp"]),
    "list count is": ("countIs", 2, [1, 2], [1]),
    "list count at least": ("countAtLeast", 2, [1, 2], [1]),
    "list count at most": ("countAtMost", 1, [1], [1, 2]),
    "yes/no is yes": ("isYes", None, True, False),
    "yes/no is no": ("isNo", None, False, True),
}


def make_rule(condition: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {
        "intent_code": "ANY", "state_code": "ANY", "phase": "PRE_RESPONSE_RESOLUTION", "rule_type": "CONDITION",
        "match_pattern": json.dumps(condition), "action": "SET_CONTEXT", "action_value": "held:true", **values,
    }  # fmt: skip


def holds(caller: Any, text: str = "book an appointment", **params: Any) -> bool:
    answer = caller.say(text, inputParams=params, reset=True)
    assert answer["success"], answer
    return "held" in answer["context"]


def test_every_operator_has_its_row() -> None:
    assert {operator for operator, *_ in OPERATOR_CASES.values()} == set(OPERATORS)


@pytest.mark.parametrize("name", OPERATOR_CASES)
def test_an_operator_holds_in_a_turn_and_not_in_another(name: str) -> None:
    operator, wanted, fitting, other = OPERATOR_CASES[name]
    row = {"field": "params.v", "operator": operator} | ({} if wanted is None else {"value": wanted})
    caller = make_caller(rows={"ce_rule": [make_rule(row)]})

    assert (holds(caller, v=fitting), holds(caller, v=other)) == (True, False)


@pytest.mark.parametrize(
    ("field", "row"),
    [
        pytest.param("name", {"operator": "is", "value": "Ann Bell"}, id="a field of the form"),
        pytest.param("intent", {"operator": "is", "value": "DENTIST"}, id="the intent"),
        pytest.param("state", {"operator": "is", "value": "COLLECT"}, id="the state"),
        pytest.param("message", {"operator": "contains", "value": "bell"}, id="the message"),
        pytest.param("act", {"operator": "isNotEmpty"}, id="the act"),
        pytest.param("params.tier", {"operator": "is", "value": "gold"}, id="an input param"),
        pytest.param("memory.session_summary", {"operator": "isNotEmpty"}, id="the memory"),
        pytest.param("clock.now", {"operator": "after", "value": "2000-01-01"}, id="clock.now"),
        pytest.param("clock.today", {"operator": "on", "value": "today"}, id="clock.today"),
        pytest.param(
            "clock.weekday",
            {"operator": "matches", "value": "^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day$"},
            id="clock.weekday",
        ),
        pytest.param("clock.hour", {"operator": "between", "value": [0, 23]}, id="clock.hour"),
    ],
)
def test_a_row_may_name(field: str, row: dict[str, Any]) -> None:
    caller = make_caller(DENTIST, rows={"ce_rule": [make_rule({"field": field, **row})]})
    caller.say("book an appointment")

    assert "held" in caller.say("Ann Bell", inputParams={"tier": "gold"})["context"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_missing_field_makes_a_row_false_and_no_error(operator: str) -> None:
    wanted = next(value for name, value, *_ in OPERATOR_CASES.values() if name == operator)
    row = {"field": "params.gone", "operator": operator} | ({} if wanted is None else {"value": wanted})
    caller = make_caller(rows={"ce_rule": [make_rule(row)]})

    assert not holds(caller)
    assert "RULE_ERROR" not in caller.stages(1)


INNER = {"combinator": "and", "rules": [{"field": "params.age", "operator": ">", "value": 65}]}
GOLD = {"field": "params.tier", "operator": "is", "value": "gold"}
INNER = {"combinator": "and", "rules": [{"field": "params.age", "operator": ">", "value": 65}]}
OLD = {"field": "params.age", "operator": ">", "value": 65}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param({"combinator": "and", "rules": [GOLD, OLD]}, [False, False, False, True], id="all of"),
        pytest.param({"combinator": "or", "rules": [GOLD, OLD]}, [False, True, True, True], id="any of"),
        pytest.param({"combinator": "or", "not": True, "rules": [GOLD, OLD]}, [True, False, False, False], id="not"),
        pytest.param(
            {"combinator": "and", "rules": [GOLD, {"combinator": "or", "rules": [INNER]}]},
            [False, False, False, True], id="three levels",
        ),
        pytest.param({"combinator": "and", "rules": [GOLD] * 50}, [False, True, False, True], id="fifty rows"),
    ],
)  # fmt: skip
def test_rows_form_groups(condition: dict[str, Any], expected: list[bool]) -> None:
    caller = make_caller(rows={"ce_rule": [make_rule(condition)]})
    params = (
        {"tier": "tin", "age": 1},
        {"tier": "gold", "age": 1},
        {"tier": "tin", "age": 70},
        {"tier": "gold", "age": 70},
    )

    assert [holds(caller, **given) for given in params] == expected


def test_each_row_has_its_own_verdict_with_both_values() -> None:
    caller = make_caller(rows={"ce_rule": [make_rule({"combinator": "or", "rules": [GOLD, OLD]})]})
    holds(caller, tier="gold", age=3)
    operands = find_event(caller, 1, "RULE_MATCH")["candidates"][0]["operands"]

    assert [(row["result"], row["value"]) for row in operands] == [(True, "gold"), (False, 3)]
    assert [row["literal"] for row in operands] == ["gold", 65]


def test_the_clock_is_that_of_the_conversation_s_time_zone() -> None:
    rows = {
        "ce_config": [make_setting("Session/TIME_ZONE", "Pacific/Kiritimati")],
        "ce_rule": [make_rule({"field": "clock.now", "operator": "isNotEmpty"})],
    }
    caller = make_caller(rows=rows)
    say(caller, "book an appointment")

    assert "+14:00" in json.dumps(find_event(caller, 1, "RULE_MATCH")["candidates"][0]["operands"])
