from typing import Any

import pytest

from convengine.engine.forms.schema_validator import get_validator

BLOCKING = "^(a+)+$"
DEEP = "a" * 3000


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"patternProperties": {r"^\p{Lu}": {"type": "integer"}}}, {"Ä": "x"}, False),
        ({"patternProperties": {r"^\p{Lu}": {"type": "integer"}}}, {"Ä": 1, "ä": "x"}, True),
        ({"patternProperties": {BLOCKING: {"type": "integer"}}}, {DEEP + "!": "x"}, True),
        ({"patternProperties": {"(": {"type": "integer"}}}, {"a": "x"}, True),
        ({"patternProperties": {BLOCKING: True}, "additionalProperties": False}, {DEEP: 1}, True),
        ({"patternProperties": {BLOCKING: True}, "additionalProperties": False}, {DEEP + "!": 1}, False),
        ({"patternProperties": {"^x": True}, "additionalProperties": {"type": "integer"}}, {"x": "a", "y": "b"}, False),
        ({"properties": {"y": True}, "patternProperties": {"^x": True}, "additionalProperties": False}, {"y": 1}, True),
        ({"additionalProperties": False}, {"a": 1}, False),
        ({"additionalProperties": False}, ["a"], True),
    ],
)
def test_the_names_of_properties_are_matched_in_linear_time(schema: Any, value: Any, fits: bool) -> None:
    assert get_validator(schema).is_valid(value) is fits
