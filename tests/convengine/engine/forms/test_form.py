from typing import Any

import pytest

from convengine.engine.forms.form import Form, evaluate_form, get_form, is_meaningful, is_usable
from tests.builders import make_schema, make_snapshot

ADDRESS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
    "required": ["city"],
}


def form(**properties: Any) -> Form:
    return Form({"type": "object", "properties": properties, "required": ["a"]})


def only(declared: Any) -> Any:
    return form(a=declared).fields[0]


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": ["null", "number"]}, "number"),
        ({"enum": ["A", None]}, "string"),
        ({"enum": [1, 2]}, "integer"),
        ({"const": True}, "boolean"),
        ({}, "string"),
        (True, "string"),
    ],
)
def test_the_type_of_a_field(declared: Any, kind: str) -> None:
    assert only(declared).type == kind


def test_what_a_field_may_be_called() -> None:
    field = only({"title": "Date of birth", "x-labels": ["birthday", 5, ""]})

    assert field.labels == (("a",), ("date", "of", "birth"), ("birthday",))


def test_texts_under_a_key_may_be_one_or_many() -> None:
    field = only({"x-extract": "(a)", "x-labels": ["b", 7, " "]})

    assert field.texts("x-extract") == ("(a)",)
    assert field.texts("x-labels") == ("b",)
    assert field.texts("x-nothing") == ()


def test_fields_inside_objects_have_paths_and_longer_names() -> None:
    built = form(a={"type": "string"}, address=ADDRESS, **{"x.y": {"type": "string"}})

    assert [field.path for field in built.leaves] == ["a", "address.city", "address.zip"]
    assert [field.path for field in built.fields] == ["a", "address", "x.y"]
    city = built.field("address.city")
    assert city is not None
    assert (city.required, city.labels) == (True, (("city",), ("address", "city")))
    assert built.field("nowhere") is None


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("<xml/>", "an object schema"),
        ({"type": "object"}, "an object schema"),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "not a valid JSON Schema"),
        ({"type": "object", "properties": {"a": {"minimum": "x"}}}, "not a valid JSON Schema"),
    ],
)
def test_why_a_schema_cannot_be_collected(schema: Any, says: str) -> None:
    broken = Form(schema)

    assert broken.problem is not None
    assert says in broken.problem.reason
    assert (broken.problem.field, bool(broken.problem.remedy)) == ("json_schema", True)
    assert not broken.status({"a": 1}).complete


@pytest.mark.parametrize("reference", ["#/nowhere", "http://localhost:1/x", "#/properties/a"])
def test_a_reference_that_leads_nowhere_is_never_followed_outside_and_never_raises(reference: str) -> None:
    unresolved = form(a={"$ref": reference})

    assert not unresolved.status({"a": 1}).complete
    assert unresolved.breaks(unresolved.fields[0], 1)


def test_a_value_is_held_against_the_schema_of_its_field() -> None:
    form = Form({"type": "object", "properties": {"a": {"$ref": "#/$defs/small"}}, "$defs": {"small": {"maximum": 5}}})

    assert form.breaks(form.fields[0], 4) is None
    assert "maximum" in (form.breaks(form.fields[0], 6) or "")


def test_a_form_is_made_once_a_release() -> None:
    row = make_schema("LOAN", {"a": {"type": "string"}})
    snapshot = make_snapshot(row)

    assert get_form(snapshot, row) is get_form(snapshot, row)
    assert get_form(snapshot, row).validator is get_form(snapshot, row).validator


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
    document = schema(
        {
            "c": {"type": "string", "description": "colour", "enum": ["A"]},
            "n": {"type": "number"},
            "o": {"type": "string", "x-options": [{"value": "S", "label": "Small"}, {"value": "L", "label": "Large"}]},
            "r": {"$ref": "#/$defs/size"},
        }
    ) | {"$defs": {"size": {"title": "Size", "type": "string", "oneOf": [{"const": "S"}, {"const": "L"}]}}}

    assert Form(document).describe_fields() == {
        "c": {"description": "colour", "type": "string", "enumOptions": ["A"]},
        "n": {"description": "", "type": "number"},
        "o": {"description": "", "type": "string", "enumOptions": ["S", "L"]},
        "r": {"description": "Size", "type": "string", "enumOptions": ["S", "L"]},
    }


@pytest.mark.parametrize(
    ("format_name", "value", "is_valid"),
    [
        ("time", "16:30", True), ("time", "16:30:00Z", True), ("time", "25:00", False), ("duration", "PT1H30M", True),
        ("duration", "an hour", False), ("iban", "DE89370400440532013000", True), ("iban", "DE8937", False),
    ],
)  # fmt: skip
def test_values_are_valid_in_the_form_in_which_they_are_stored(format_name: str, value: str, is_valid: bool) -> None:
    form = Form({"type": "object", "properties": {"a": {"type": "string", "format": format_name}}})

    assert (form.breaks(form.fields[0], value) is None) is is_valid


@pytest.mark.parametrize(
    ("kind", "value", "holds"), [("time", "16:30", True), ("time", "8", False), ("duration", "x", False)]
)
def test_a_value_of_a_kind_is_stored_as_the_kind_says(kind: str, value: str, holds: bool) -> None:
    form = Form({"type": "object", "properties": {"at": {"type": "string", "x-kind": kind}}, "required": ["at"]})

    assert (form.status({"at": value}).invalid == {}) is holds
