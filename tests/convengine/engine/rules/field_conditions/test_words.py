"""Conditions in words."""

import json
from typing import Any

import pytest

from convengine.engine.rules.field_conditions.words import describe_condition

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
