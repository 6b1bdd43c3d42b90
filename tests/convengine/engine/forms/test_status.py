from typing import Any

import pytest

from convengine.engine.forms.status import describe_fields, evaluate_form, is_meaningful, is_usable

STRING = {"type": "string"}


def schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


VECTORS = [
    ("V1", schema({"a": STRING, "b": STRING}, "a", "b"), {"a": "x", "b": " "}, (False, True, ["b"])),
    ("V2", schema({"a": STRING}), {}, (True, False, [])),
    ("V3", schema({"n": {"type": "number"}}, "n"), {"n": 0}, (True, True, [])),
    ("V4", schema({"n": {"type": "number"}}, "n"), {"n": "abc"}, (False, True, ["n"])),
    ("V5", schema({"s": STRING}, "s"), {"s": 123}, (False, True, ["s"])),
    (
        "V6",
        schema({"address": {"type": "object", "properties": {"city": STRING}, "required": ["city"]}}, "address"),
        {"address": {"zip": "1"}},
        (False, True, ["address.city"]),
    ),
    ("V7", schema({"tags": {"type": "array"}}, "tags"), {"tags": []}, (True, False, [])),
    ("V7min", schema({"tags": {"type": "array", "minItems": 1}}, "tags"), {"tags": []}, (False, False, ["tags"])),
    ("V8", schema({"c": {"enum": ["A", "B"]}}, "c"), {"c": "Z"}, (False, True, ["c"])),
    (
        "V9",
        schema({"o": {"type": "object", "properties": {"k": STRING}, "required": ["k"]}}),
        {"o": {}},
        (True, False, []),
    ),
    ("V10", schema({"a": STRING}, "a"), [], (False, False, ["a"])),
]


@pytest.mark.parametrize(
    ("document", "context", "expected"), [v[1:] for v in VECTORS], ids=[f"P2_5_6_{v[0]}" for v in VECTORS]
)
def test_complete_any_and_missing(document: Any, context: Any, expected: tuple[bool, bool, list[str]]) -> None:
    status = evaluate_form(document, context)

    assert (status.complete, status.has_any_value, list(status.missing)) == expected


def test_a_missing_field_with_choices_offers_them() -> None:
    status = evaluate_form(schema({"c": {"enum": ["A", "B", None]}}, "c"), {"c": "Z"})

    assert status.options == {"c": ["A", "B"]}
    assert "c" in status.invalid


def test_missing_fields_stand_in_the_order_of_required_which_every_database_keeps() -> None:
    document = schema({"d": {"type": "integer"}, "b": STRING, "a": {"type": "integer"}, "c": STRING}, "c", "a", "b")

    assert evaluate_form(document, {"a": "x", "d": "x"}).missing == ("c", "a", "b", "d")


def test_items_of_a_list_are_looked_into() -> None:
    item = {"type": "object", "properties": {"sku": STRING}, "required": ["sku"]}

    status = evaluate_form(schema({"items": {"type": "array", "items": item}}), {"items": [{"sku": "x"}, {"qty": 1}]})

    assert status.missing == ("items.1.sku",)


def test_a_pattern_is_judged_in_linear_time() -> None:
    document = schema({"s": {"type": "string", "pattern": "^(a+)+$"}}, "s")

    assert evaluate_form(document, {"s": "a" * 3000 + "!"}).missing == ("s",)
    assert evaluate_form(document, {"s": "aaa"}).complete


@pytest.mark.parametrize("broken", ["<schema/>", None, [], {"type": "object"}, {"properties": []}])
def test_what_is_no_object_schema_is_never_complete(broken: Any) -> None:
    assert not is_usable(broken)
    assert not evaluate_form(broken, {}).complete


@pytest.mark.parametrize(
    ("value", "says"), [(0, True), (False, True), (" ", False), ([], False), ({}, False), (None, False)]
)
def test_meaningful(value: Any, says: bool) -> None:
    assert is_meaningful(value) is says


def test_field_details_tell_what_a_prompt_needs() -> None:
    document = schema({"c": {"type": "string", "description": "colour", "enum": ["A"]}, "n": {"type": "number"}})

    assert describe_fields(document) == {
        "c": {"description": "colour", "type": "string", "enumOptions": ["A"]},
        "n": {"description": "", "type": "number"},
    }
