"""Conditions as rows store them."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from convengine.engine.rules.conditions.operators import OPERATORS
from convengine.engine.rules.conditions.rows import (
    ConditionError,
    build_condition_schema,
    convert_path,
    list_fields,
    parse_condition,
)
from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.engine.rules.conditions.words import describe_condition
from tests.builders import make_rule, make_session

ROW = {"field": "date", "operator": "before", "value": "today+2d"}


def group(*rules: Any, **keys: Any) -> dict[str, Any]:
    return {"combinator": "and", "rules": list(rules), **keys}


def parse(document: Any) -> Any:
    return parse_condition(json.dumps(document))


def test_the_shape_of_react_querybuilder_is_read() -> None:
    parsed = parse(group({**ROW, "id": "r1"}, group(ROW, combinator="or", **{"not": True}), id="g1"))

    assert [member.__class__.__name__ for member in parsed.members] == ["Comparison", "Group"]
    assert (parsed.combinator, parsed.negated) == ("and", False)
    assert (parsed.members[1].combinator, parsed.members[1].negated) == ("or", True)


def test_a_single_row_is_a_condition() -> None:
    assert str(parse(ROW).members[0].left) == "date"


def test_the_value_may_be_another_field() -> None:
    assert list_fields(parse(group({"field": "a", "operator": "=", "value": "b", "valueSource": "field"}))) == [
        "a",
        "b",
    ]


def test_three_levels_are_read_and_four_are_refused() -> None:
    three = group(group(group(ROW)))

    assert parse(three)
    with pytest.raises(ConditionError, match="at most 3 levels"):
        parse(group(three))


def test_fifty_rows_are_read_and_fifty_one_are_refused() -> None:
    assert parse(group(*[ROW] * 50))
    with pytest.raises(ConditionError, match="51 rows"):
        parse(group(group(*[ROW] * 25), group(*[ROW] * 26)))


@pytest.mark.parametrize(
    ("document", "part", "reason"),
    [
        (group(), "rules", "at least one row"),
        (group(ROW, combinator="xor"), "combinator", '"and" or "or"'),
        (group(ROW, **{"not": "yes"}), "not", "true or false"),
        (group("date"), "rules[0]", "must be an object"),
        (group({"field": " ", "operator": "is", "value": 1}), "rules[0].field", "Choose a field"),
        (group({"field": "a", "operator": "befor", "value": 1}), "rules[0].operator", "Did you mean before"),
        (group({"field": "a"}), "rules[0].operator", "Choose an operator"),
        (group(ROW, {"field": "a", "operator": "before", "value": "soon"}), "rules[1].value", "needs a date or a time"),
        (group({"field": "a", "operator": "is"}), "rules[0].value", "needs a value"),
        (group({**ROW, "valueSource": "moon"}), "rules[0].valueSource", '"value" or "field"'),
        (group({**ROW, "valueSource": "field", "value": 7}), "rules[0].value", "other field"),
        (group({**ROW, "colour": "red"}), "rules[0]", "Unknown key colour"),
        (group(ROW, rulez=[]), "", "Did you mean rules"),
        ([], "", "must be an object"),
    ],
)
def test_an_unusable_condition_names_its_part(document: Any, part: str, reason: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(document)

    assert caught.value.path == part
    assert reason in caught.value.reason


@pytest.mark.parametrize("text", ["", "{", "before", "[" * 100_000])
def test_a_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ConditionError, match="not valid JSON"):
        parse_condition(text)


COMPARISON = {"field": "date", "operator": "before", "value": "today+2d"}
NESTED: Any = {"combinator": "or", "not": False, "rules": [COMPARISON]}


def holds(document: Any) -> bool:
    return Draft202012Validator(build_condition_schema()).is_valid(document)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(build_condition_schema())


def test_it_takes_three_levels() -> None:
    two = {"combinator": "and", "rules": [NESTED, COMPARISON]}

    assert holds({"combinator": "and", "rules": [two]})
    assert not holds({"combinator": "and", "rules": [{"combinator": "and", "rules": [two]}]})


@pytest.mark.parametrize("name", OPERATORS)
def test_it_knows_every_operator(name: str) -> None:
    assert holds({"combinator": "and", "rules": [{"field": "a", "operator": name, "value": 1}]})


@pytest.mark.parametrize(
    "document",
    [
        {"combinator": "and", "rules": []},
        {"combinator": "xor", "rules": [COMPARISON]},
        {"combinator": "and", "rules": [COMPARISON] * 51},
        {"combinator": "and", "rules": [{**COMPARISON, "operator": "smells"}]},
        {"combinator": "and", "rules": [{"operator": "is"}]},
    ],
)
def test_it_refuses_what_the_engine_refuses(document: Any) -> None:
    assert not holds(document)


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
