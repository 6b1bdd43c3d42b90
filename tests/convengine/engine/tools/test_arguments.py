from typing import Any

import pytest

from convengine.engine.tools.arguments import cap_result, check_arguments, find_argument_schema
from convengine.engine.turn import rows
from tests.builders import make_snapshot, make_tool

SCHEMA = {
    "type": "object",
    "properties": {
        "orderId": {"type": "string"},
        "count": {"type": "integer", "default": 3},
        "price": {"type": "number"},
        "open": {"type": "boolean"},
    },
    "required": ["orderId"],
}


def test_without_a_schema_arguments_stay_as_they_are() -> None:
    assert check_arguments(None, {"a": "1"}) == ({"a": "1"}, [])


def test_defaults_are_filled_in_and_texts_read_as_what_the_schema_wants() -> None:
    given = {"orderId": 48392, "price": "12.5", "open": "TRUE"}

    assert check_arguments(SCHEMA, given) == ({"orderId": "48392", "price": 12.5, "open": True, "count": 3}, [])


@pytest.mark.parametrize(
    ("number", "text"),
    [(48392, "48392"), (5.0, "5"), (12345.67, "12345.67"), (999_999.5, "999999.5"), (1e6, "1000000")],
)
def test_a_number_becomes_the_text_of_all_its_digits(number: float, text: str) -> None:
    assert check_arguments(SCHEMA, {"orderId": number})[0]["orderId"] == text


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "'orderId' is a required property"),
        ({"orderId": "1", "count": "many"}, "count: 'many' is not of type 'integer'"),
        ({"orderId": "1", "conut": 1}, "conut is not an argument; known: orderId, count, price, open."),
    ],
)
def test_each_fault_is_named(given: Any, problem: str) -> None:
    assert check_arguments(SCHEMA, given)[1] == [problem]


def test_a_schema_may_take_unknown_names_and_a_group_may_know_more() -> None:
    assert check_arguments({**SCHEMA, "additionalProperties": True}, {"orderId": "1", "more": 1})[1] == []
    assert check_arguments(SCHEMA, {"orderId": "1", "limit": 5}, frozenset({"limit"}))[1] == []


def test_what_is_inside_lists_and_objects_is_read_too() -> None:
    schema = {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"type": "integer"}},
            "to": {"type": "object", "properties": {"floor": {"type": "integer"}}},
        },
    }

    fitted, problems = check_arguments(schema, {"lines": ["1", 2], "to": {"floor": "4"}})

    assert (fitted, problems) == ({"lines": [1, 2], "to": {"floor": 4}}, [])


WHOLE, NOTHING = {"type": "integer"}, {"type": "null"}


@pytest.mark.parametrize(
    "wanted",
    [
        {"anyOf": [WHOLE, NOTHING]},
        {"oneOf": [NOTHING, WHOLE]},
        {"allOf": [WHOLE]},
        {"$ref": "#/$defs/Number"},
        {"anyOf": [{"$ref": "#/$defs/Number"}, NOTHING], "default": None},
    ],
)
def test_types_are_read_as_tools_write_them(wanted: Any) -> None:
    schema = {"type": "object", "properties": {"n": wanted, "name": {"type": "string"}}, "$defs": {"Number": WHOLE}}

    assert check_arguments(schema, {"n": "12", "name": "12"}) == ({"n": 12, "name": "12"}, [])
    assert check_arguments(schema, {"n": "x"})[1]
    # The blank text of a template without a value is no argument.
    assert check_arguments(schema, {"n": ""}) == ({"n": None} if "default" in wanted else {}, [])


def test_an_unusable_schema_lets_nothing_through() -> None:
    _, problems = check_arguments({"type": "object", "properties": {"a": {"type": "no such"}}}, {"a": 1})

    assert problems[0].startswith("The schema of the arguments cannot be used")


def test_the_schema_stands_where_the_group_keeps_it() -> None:
    by_row, own, none = make_tool("a", tool_id=1), make_tool("b", input_schema={"type": "object"}), make_tool("c")
    snapshot = make_snapshot(by_row, own, none, rows.DbTool(tool_id=1, sql_template="SELECT 1", param_schema=SCHEMA))

    assert [find_argument_schema(snapshot, tool) for tool in (by_row, own, none)] == [SCHEMA, {"type": "object"}, None]


def test_a_result_within_the_limit_is_kept_as_it_is() -> None:
    assert cap_result({"a": "é"}, 10) == {"a": "é"}
    assert cap_result({"a": "éé"}, 10) == {"truncated": True, "bytes": 12, "preview": '{"a":"éé"}'}
