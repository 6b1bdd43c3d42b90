from typing import Any

import pytest

from convengine.engine.forms.form import Form, get_form
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
    ("declared", "kind", "nullable"),
    [
        ({"type": "integer"}, "integer", False),
        ({"type": ["null", "number"]}, "number", True),
        ({"enum": ["A", None]}, "string", True),
        ({"enum": [1, 2]}, "integer", False),
        ({"const": True}, "boolean", False),
        ({}, "string", False),
        (True, "string", False),
    ],
)
def test_the_type_of_a_field(declared: Any, kind: str, nullable: bool) -> None:
    field = only(declared)

    assert (field.type, field.nullable) == (kind, nullable)


def test_what_a_field_may_be_called() -> None:
    field = only({"title": "Date of birth", "x-labels": ["birthday", 5, ""], "description": "your birthday"})

    assert field.labels == (("a",), ("date", "of", "birth"), ("birthday",))
    assert field.description == ("your", "birthday")
    assert "birth" in field.words


def test_texts_under_a_key_may_be_one_or_many() -> None:
    field = only({"x-extract": "(a)", "x-labels": ["b", 7, " "]})

    assert field.texts("x-extract") == ("(a)",)
    assert field.texts("x-labels") == ("b",)
    assert field.texts("x-nothing") == ()


def test_fields_inside_objects_have_paths_and_longer_names() -> None:
    found = form(a={"type": "string"}, address=ADDRESS, **{"x.y": {"type": "string"}})

    assert [field.path for field in found.leaves] == ["a", "address.city", "address.zip"]
    assert [field.path for field in found.fields] == ["a", "address", "x.y"]
    city = found.field("address.city")
    assert city is not None
    assert (city.required, city.labels) == (True, (("city",), ("address", "city")))
    assert found.field("nowhere") is None


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("<xml/>", "an object schema"),
        ({"type": "object"}, "an object schema"),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "no JSON Schema"),
        ({"type": "object", "properties": {"a": {"minimum": "x"}}}, "no JSON Schema"),
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
    lost = form(a={"$ref": reference})

    assert not lost.status({"a": 1}).complete
    assert lost.breaks(lost.fields[0], 1)


def test_a_value_is_held_against_the_schema_of_its_field() -> None:
    found = Form({"type": "object", "properties": {"a": {"$ref": "#/$defs/small"}}, "$defs": {"small": {"maximum": 5}}})

    assert found.breaks(found.fields[0], 4) is None
    assert "maximum" in (found.breaks(found.fields[0], 6) or "")


def test_a_form_is_made_once_a_release() -> None:
    row = make_schema("LOAN", {"a": {"type": "string"}})
    snapshot = make_snapshot(row)

    assert get_form(snapshot, row) is get_form(snapshot, row)
    assert get_form(snapshot, row).validator is get_form(snapshot, row).validator
