"""Turns in which conditions of rows hold are found from the rows alone, and played."""

import json
from typing import Any

import pytest

from config_admin.health.checks.collisions import find_rule_collisions
from config_admin.health.player import TurnPlayer
from config_admin.health.rules.beginnings import Wanted, find_beginnings
from config_admin.health.witnesses import find_turn
from config_admin.validation.world import World
from convengine.engine.rules.conditions.operators import OPERATORS
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from tests.builders import make_intent, make_response, make_rule, make_snapshot
from tests.config_admin.health.run_check import run_check

PHASE = RulePhase.PRE_RESPONSE_RESOLUTION
WHERE = [("LOAN", "IDLE")]
#: Every operator, with the value of a row.
CASES: dict[str, Any] = {
    "is": "pain",
    "isNot": "pain",
    "contains": "a.b",
    "doesNotContain": "a",
    "startsWith": "a",
    "matches": "^a+$",
    "isOneOf": ["a", "b"],
    "isNoneOf": ["a", "b"],
    "=": 5,
    "!=": 5,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "between": [1, 5],
    "before": "today+2d",
    "onOrBefore": "today+2d",
    "after": "2026-02-01",
    "onOrAfter": "2026-02-01",
    "on": "tomorrow",
    "inMonths": ["may"],
    "notInMonths": ["may"],
    "onWeekdays": ["friday"],
    "notOnWeekdays": ["friday"],
    "withinDays": 3,
    "moreThanDaysAgo": 3,
    "withinHours": 1,
    "moreThanHoursAgo": 3,
    "has": ["a"],
    "hasNone": ["a"],
    "countIs": 2,
    "countAtLeast": 2,
    "countAtMost": 1,
    "isYes": None,
    "isNo": None,
    "isEmpty": None,
    "isNotEmpty": None,
}


def with_rows(*of: dict[str, Any], **values: Any) -> rows.Rule:
    document = {"combinator": "and", "rules": list(of)}
    return make_rule(rule_type="CONDITION", match_pattern=json.dumps(document), **values)


def test_every_operator_is_tried() -> None:
    assert CASES.keys() == OPERATORS.keys()


@pytest.mark.parametrize("operator", CASES)
def test_a_turn_is_found_in_which_a_row_holds(operator: str) -> None:
    rule = with_rows({"field": "x", "operator": operator, "value": CASES[operator]})
    player = TurnPlayer(make_snapshot(make_intent("LOAN"), make_response(), rule), World())

    shown = find_turn(player, PHASE, WHERE, (rule,), lambda played: played.find_acting(rule) is not None)

    assert shown is not None
    assert player.played == 1


def test_a_condition_that_must_not_hold_gets_other_values() -> None:
    rule = with_rows({"field": "x", "operator": "is", "value": "pain"})
    other = with_rows({"field": "x", "operator": "isNotEmpty"})

    beginnings = [*find_beginnings(make_snapshot(), PHASE, WHERE, [Wanted(other), Wanted(rule, holds=False)])]

    assert beginnings
    assert all(beginning.context["x"] not in (None, "", "pain") for beginning in beginnings)


def test_two_rules_with_rows_that_hold_together_collide() -> None:
    first = with_rows({"field": "message", "operator": "contains", "value": "refund"}, action_value="REFUND")
    second = with_rows({"field": "params.amount", "operator": ">", "value": 100}, action_value="REVIEW")

    (found,) = run_check(find_rule_collisions, first, second, make_response())

    assert {row.pk for row in found.rows} == {first.rule_id, second.rule_id}
