"""The JSON Schema of conditions."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from convengine.engine.rules.conditions.operators import OPERATORS
from convengine.engine.rules.conditions.schema import build_condition_schema

ROW = {"field": "date", "operator": "before", "value": "today+2d"}
NESTED: Any = {"combinator": "or", "not": False, "rules": [ROW]}


def holds(document: Any) -> bool:
    return Draft202012Validator(build_condition_schema()).is_valid(document)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(build_condition_schema())


def test_it_takes_three_levels() -> None:
    two = {"combinator": "and", "rules": [NESTED, ROW]}

    assert holds({"combinator": "and", "rules": [two]})
    assert not holds({"combinator": "and", "rules": [{"combinator": "and", "rules": [two]}]})


@pytest.mark.parametrize("name", OPERATORS)
def test_it_knows_every_operator(name: str) -> None:
    assert holds({"combinator": "and", "rules": [{"field": "a", "operator": name, "value": 1}]})


@pytest.mark.parametrize(
    "document",
    [
        {"combinator": "and", "rules": []},
        {"combinator": "xor", "rules": [ROW]},
        {"combinator": "and", "rules": [ROW] * 51},
        {"combinator": "and", "rules": [{**ROW, "operator": "smells"}]},
        {"combinator": "and", "rules": [{"operator": "is"}]},
    ],
)
def test_it_refuses_what_the_engine_refuses(document: Any) -> None:
    assert not holds(document)
