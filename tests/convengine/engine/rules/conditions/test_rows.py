"""Conditions as rows store them."""

import json
from typing import Any

import pytest

from convengine.engine.rules.conditions.rows import ConditionError, list_fields, parse_condition

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
