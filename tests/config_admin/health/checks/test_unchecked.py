import json
from typing import Any

import pytest

from config_admin.health.checks.unchecked import find_unchecked_values
from tests.builders import make_intent, make_rule
from tests.config_admin.health.run_check import run_check

DATE_TEST = json.dumps({"combinator": "and", "rules": [{"field": "date", "operator": "before", "value": "today"}]})
CHECK = {"rule_id": 1, "intent_code": "LOAN", "phase": "POST_SCHEMA_EXTRACTION", "rule_type": "CONDITION"}
WRITE = {"rule_id": 2, "intent_code": "LOAN", "action": "SET_CONTEXT", "action_value": "date:2026-01-01"}


def find(check: dict[str, Any], write: dict[str, Any]) -> list[tuple[str, int]]:
    rules = make_rule(**{**CHECK, "match_pattern": DATE_TEST, **check}), make_rule(**{**WRITE, **write})
    return [(found.code, found.row) for found in run_check(find_unchecked_values, make_intent("LOAN"), *rules)]


@pytest.mark.parametrize(
    "check",
    [{}, {"rule_type": "JSON_PATH", "match_pattern": "$[?(@.context.date == '2026-01-01')]"}],
)
def test_a_value_that_a_later_phase_writes_passes_by_its_check(check: dict[str, Any]) -> None:
    assert find(check, {}) == [("VALUE_UNCHECKED", 2)]


@pytest.mark.parametrize(
    ("check", "write"),
    [
        ({}, {"phase": "POST_DIALOGUE_ACT"}),
        ({}, {"phase": "POST_SCHEMA_EXTRACTION"}),
        ({}, {"action_value": "other:1"}),
        ({}, {"intent_code": "OTHER"}),
        ({"enabled": False}, {}),
    ],
)
def test_nothing_is_said_of_other_phases_fields_and_intents(check: dict[str, Any], write: dict[str, Any]) -> None:
    assert find(check, write) == []
