"""JSON paths that rows can say."""

import json
from typing import Any

import pytest

from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.engine.rules.conditions.to_rows import convert_path
from convengine.engine.rules.conditions.words import describe_condition
from tests.builders import make_rule, make_session


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$[?(@.schemaComplete == true)]", "the form is complete"),
        ("$[?(@.state == 'CONFIRM' && @.inputParams.dialogue_act == 'AFFIRM')]", (
            'the state is "CONFIRM", and the user says yes'
        )),
        ("$[?(@.turnNo >= 3 || @.userText contains 'urgent')]", (
            'either the turn number is at least 3 or the message contains "urgent"'
        )),
        ("$[?(@.reason != 'pain')]", 'not (reason is "pain")'),
        ("$[?(@.state in ['A', 'B'])]", 'the state is one of "A" or "B"'),
        ("$[?(@.inputParams.vip == false)]", "vip is no"),
        ("$[?(@.message == 'x')]", 'message is "x"'),
    ],
)  # fmt: skip
def test_a_path_that_compares_fields_becomes_rows(path: str, expected: str) -> None:
    rows = convert_path(path)

    assert rows is not None
    assert describe_condition(rows) == expected


@pytest.mark.parametrize(
    "path",
    [
        "$.schemaComplete",
        "$[?(",
        "$[?(@.a == null)]",
        "$[?(@.a =~ /x/)]",
        "$.context.items[?(@.q > 1)]",
        "$[?(@.items[0] == 1)]",
        "$[?(@.a == @.b)]",
        "$[?(@.a)]",
    ],
)
def test_a_path_that_says_more_stays_a_path(path: str) -> None:
    assert convert_path(path) is None


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"a": 5},
        {"a": "5"},
        {"a": " 5 "},
        {"a": "5e0"},
        {"a": "٥"},
        {"a": "x"},
        {"a": "z"},
        {"a": True},
        {"a": None},
        {"a": ["x"]},
    ],
)
@pytest.mark.parametrize(
    "condition",
    [
        "@.a == 'x'",
        "@.a != 'x'",
        "@.a == 5",
        "@.a > 4",
        "@.a == true",
        "@.a in ['x', 5]",
        "!(@.a == 'x')",
        "@.a contains 'x'",
    ],
)
def test_the_rows_hold_when_the_path_does(condition: str, context: dict[str, Any]) -> None:
    path = f"$[?({condition})]"
    session = make_session(context=context)
    rules = (
        make_rule(rule_type="JSON_PATH", match_pattern=path),
        make_rule(rule_type="CONDITION", match_pattern=convert_path(path)),
    )

    first, second = (evaluate_rule(rule, session).matched for rule in rules)
    assert first is second
    assert json.loads(str(rules[1].match_pattern))["rules"]
