"""Conditions of rows as the search for turns understands them."""

import json
from typing import Any

import pytest

from config_admin.health.checks.collisions import find_rule_collisions
from config_admin.health.rules.claims import split_condition
from config_admin.health.rules.row_claims import NOW
from convengine.engine.rules.conditions import evaluate_rule
from convengine.engine.turn import rows
from tests.builders import make_response, make_rule, make_session
from tests.config_admin.health.run_check import run_check

#: (operator, value of the row, a value of the field that fulfils it, one that does not).
CASES: list[tuple[str, Any, Any, Any]] = [
    ("is", "pain", "pain", "other"),
    ("isNot", "pain", "other", "pain"),
    ("contains", "a.b", "xa.by", "axb"),
    ("doesNotContain", "a", "b", "a"),
    ("startsWith", "a", "ab", "ba"),
    ("matches", "^a+$", "aa", "b"),
    ("isOneOf", ["a", "b"], "b", "c"),
    ("isNoneOf", ["a", "b"], "c", "b"),
    ("=", 5, 5, 6),
    ("!=", 5, 6, 5),
    ("<", 5, 4, 5),
    ("<=", 5, 5, 6),
    (">", 5, 6, 5),
    (">=", 5, 5, 4),
    ("between", [1, 5], 3, 6),
    ("before", "today+2d", "2026-01-02", "2026-01-03"),
    ("after", "2026-02-01", "2026-02-02", "2026-02-01"),
    ("on", "tomorrow", "2026-01-02", "2026-01-03"),
    ("withinDays", 3, "2026-01-04", "2026-01-05"),
    ("moreThanDaysAgo", 3, "2025-12-28", "2025-12-29"),
    ("has", ["a"], ["a", "b"], ["b"]),
    ("hasNone", ["a"], ["b"], ["a"]),
    ("countIs", 2, ["a", "b"], ["a"]),
    ("countAtLeast", 2, ["a", "b"], ["a"]),
    ("countAtMost", 1, ["a"], ["a", "b"]),
    ("isYes", None, True, False),
    ("isNo", None, False, True),
    ("isNotEmpty", None, "a", ""),
]


def with_rows(*of: dict[str, Any], **values: Any) -> rows.Rule:
    document = {"combinator": "and", "rules": list(of)}
    return make_rule(rule_type="CONDITION", match_pattern=json.dumps(document), **values)


@pytest.mark.parametrize(("operator", "wanted", "yes", "no"), CASES)
def test_the_claims_of_a_row_agree_with_the_engine(operator: str, wanted: Any, yes: Any, no: Any) -> None:
    rule = with_rows({"field": "x", "operator": operator, "value": wanted})
    branches = split_condition(rule)

    for value, expected in ((yes, True), (no, False)):
        held = any(all(claim.holds_for({"x": value}, {"x": value}) is claim.holds for claim in way) for way in branches)
        session = make_session(now=NOW, context={"x": value})
        assert (held, evaluate_rule(rule, session).matched) == (expected, expected)


def test_a_row_without_a_counterpart_leaves_the_condition_unknown() -> None:
    assert split_condition(with_rows({"field": "x", "operator": "withinHours", "value": 1})) == ()


def test_two_rules_with_rows_that_hold_together_collide() -> None:
    first = with_rows({"field": "message", "operator": "contains", "value": "refund"}, action_value="REFUND")
    second = with_rows({"field": "params.amount", "operator": ">", "value": 100}, action_value="REVIEW")

    (found,) = run_check(find_rule_collisions, first, second, make_response())

    assert {row.pk for row in found.rows} == {first.rule_id, second.rule_id}
