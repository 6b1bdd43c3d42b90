"""Conditions in words."""

import json
from typing import Any

import pytest

from convengine.engine.rules.conditions.rule import read_condition
from convengine.engine.rules.conditions.words import describe, describe_condition, noun
from tests.builders import make_rule

DATE = {"field": "date", "operator": "before", "value": "today+2d"}
URGENT = {"field": "message", "operator": "contains", "value": "urgent"}


def words(*rules: Any, **keys: Any) -> str | None:
    return describe_condition(json.dumps({"combinator": "and", "rules": rules, **keys}))


@pytest.mark.parametrize(
    ("rules", "keys", "expected"),
    [
        ((DATE, URGENT), {}, 'date is before today plus 2 days, and the message contains "urgent"'),
        (
            (DATE, URGENT),
            {"combinator": "or"},
            'either date is before today plus 2 days or the message contains "urgent"',
        ),
        ((DATE,), {"not": True}, "not (date is before today plus 2 days)"),
        (
            (DATE, {"combinator": "or", "rules": [URGENT, {"field": "params.vip", "operator": "isYes"}]}),
            {},
            'date is before today plus 2 days, and (either the message contains "urgent" or vip is yes)',
        ),
        (({"field": "schemaComplete", "operator": "isYes"},), {}, "the form is complete"),
        (({"field": "act", "operator": "is", "value": "AFFIRM"},), {}, "the user says yes"),
        (({"field": "clock.hour", "operator": ">=", "value": 17},), {}, "the hour is at least 17"),
        (
            ({"field": "returnDate", "operator": "before", "value": "context.date", "valueSource": "field"},),
            {},
            "returnDate is before date",
        ),
    ],
)
def test_a_condition_is_a_clause(rules: Any, keys: Any, expected: str) -> None:
    assert words(*rules, **keys) == expected


def test_a_condition_that_cannot_be_read_has_no_words() -> None:
    assert describe_condition("{") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$[?(@.schemaComplete == false)]", "the form is not complete"),
        ("$[?(@.schemaComplete != true)]", "the form is not complete"),
        ("$.schemaComplete", "the form is complete"),
        ("$[?(@.inputParams.dialogue_act == 'NEGATE')]", "the user says no"),
        ("$[?(@.inputParams.dialogue_act != 'NEGATE')]", 'the dialogue act is not "NEGATE"'),
        ("$[?(@.context.reference != null)]", "reference is set"),
        ("$[?(@.context.reference == null)]", "reference is not set"),
        ("$[?(@.pendingClarificationQuestion != null)]", "the clarifying question is set"),
        ("$[?(!(@.userText =~ /.*it.*/i))]", "the message does not match the pattern of “it”"),
        ("$[?(@.context.a < @.inputParams.today)]", "a is before today"),
        ("$[?(@.state in ['A','B'])]", 'the state is one of "A", "B"'),
        ("$[?(@.context.items empty false)]", "items is not empty"),
        ("$[?(@.context.a == 1 && (@.context.b == 2 || !@.context.c))]", "a is 1 and (either b is 2 or c is not set)"),
        ("$[?(@.inputParams.found == [])]", "found is an empty list"),
        ("$[?(@.context.items.length() > 2)]", "the length of items is more than 2"),
        ("$.context.items[?(@.x == 1)]", "$.context.items[?(@.x == 1)] matches something"),
    ],
)
def test_a_path_is_said_in_words(path: str, expected: str) -> None:
    condition = read_condition(make_rule(rule_type="JSON_PATH", match_pattern=path))

    assert condition is not None
    assert describe(condition.tree) == expected


def test_a_path_that_leads_through_a_list_is_called_as_it_is_written() -> None:
    assert noun("$.context.items[0]") == "$.context.items[0]"
    assert noun("$[") == "$["
