from collections.abc import Mapping
from typing import Any

import pytest

from convengine.engine.forms.asking import find_open_fields
from convengine.engine.forms.composed_schemas import find_broken_reference, write_out
from convengine.engine.forms.form import Form
from convengine.engine.understanding.field import Kind
from convengine.json_value import Json

ROOM: Json = {
    "type": "object",
    "$defs": {
        "Bed": {"oneOf": [{"const": "B1", "title": "Single"}, {"const": "B2", "title": "Double"}]},
        "Day": {"type": "string", "format": "date"},
        "Guest": {"type": "object", "properties": {"day": {"$ref": "#/$defs/Day"}}, "required": ["day"]},
    },
    "properties": {
        "bed": {"$ref": "#/$defs/Bed", "title": "Bed"},
        "leaving": {"anyOf": [{"$ref": "#/$defs/Day"}, {"type": "null"}], "title": "Leaving"},
        "guest": {"allOf": [{"$ref": "#/$defs/Guest"}]},
        "payment": {"type": "string", "enum": ["cash", "account"]},
        "dog": {"type": "boolean"},
        "breed": {"type": "string"},
    },
    "required": ["bed", "payment"],
    "dependentRequired": {"dog": ["breed"]},
    "if": {"properties": {"payment": {"const": "account"}}},
    "then": {"properties": {"iban": {"type": "string", "format": "iban"}}, "required": ["iban"]},
}


def test_references_and_titles_are_written_out() -> None:
    fields = {field.path: field for field in Form(ROOM).leaves}

    assert [(option.value, option.label) for option in fields["bed"].spec.options] == [
        ("B1", "Single"),
        ("B2", "Double"),
    ]
    assert fields["bed"].spec.title == "Bed"
    assert fields["leaving"].spec.kind is Kind.DATE
    assert fields["guest.day"].spec.kind is Kind.DATE
    assert fields["iban"].spec.kind is Kind.IBAN


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({}, ("bed", "payment")),
        ({"bed": "B1", "payment": "cash"}, ()),
        ({"bed": "B1", "payment": "account"}, ("iban",)),
        ({"bed": "B1", "payment": "cash", "dog": True}, ("breed",)),
        ({"bed": "B3", "payment": "cash"}, ("bed",)),
        ({"bed": "B1", "payment": "cash", "leaving": "soon"}, ("leaving",)),
    ],
)
def test_what_is_required_depends_on_the_values(values: Mapping[str, Any], missing: tuple[str, ...]) -> None:
    assert Form(ROOM).status(values).missing == missing


DAMAGE: Json = {
    "type": "object",
    "properties": {
        "insured": {"type": "boolean", "x-ask": "Are you insured?"},
        "policy": {"type": "string", "x-ask": "Which policy?"},
        "insurer": {"type": "string", "x-ask": "With whom?"},
        "country": {"type": "string"},
        "postcode": {"type": "string", "x-ask": "Which postcode?"},
    },
    "required": ["insured", "country"],
    "allOf": [
        {"if": {"properties": {"insured": {"const": True}}}, "then": {"required": ["policy"]}},
        {"if": {"properties": {"insured": {"const": True}}}, "then": {"properties": {"insurer": True}}},
        {
            "if": {"properties": {"country": {"const": "DE"}}},
            "then": {"properties": {"postcode": {"pattern": "^[0-9]{5}$"}}},
        },
    ],
}


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ({}, ["insured", "country", "postcode"]),
        ({"insured": False}, ["country", "postcode"]),
        ({"insured": None}, ["insured", "country", "postcode"]),
        ({"insured": True}, ["policy", "insurer", "country", "postcode"]),
        ({"insured": True, "policy": None, "insurer": None, "postcode": None}, ["policy", "country"]),
    ],
)
def test_a_field_that_a_part_names_is_asked_for_only_where_the_part_holds(
    values: Mapping[str, Any], asked: list[str]
) -> None:
    form = Form(DAMAGE)

    assert [field.path for field in find_open_fields(form, values)] == asked
    assert [field.path for field in form.fields if field.required] == ["insured", "policy", "country"]


@pytest.mark.parametrize(
    ("reference", "broken"),
    [("#/$defs/day", None), ("#/$defs/none", "#/$defs/none"), ("#", "#"), ("other.json#/day", "other.json#/day")],
)
def test_a_reference_that_cannot_be_followed_is_named(reference: str, broken: str | None) -> None:
    schema = {"type": "object", "$defs": {"day": {"type": "string"}}, "properties": {"day": {"$ref": reference}}}

    assert find_broken_reference(write_out(schema)) == broken


def test_a_choice_of_several_shapes_stays_as_it_is() -> None:
    schema = {"type": "object", "properties": {"size": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}

    assert write_out(schema) == schema


@pytest.mark.parametrize(
    ("pattern", "name", "missing"),
    [
        (r"^\p{L}+$", "Ann", ("company",)),
        (r"^\p{L}+$", "7", ()),
        ("^(a+)+$", "a" * 3000 + "!", ()),
        ("(", "Ann", ("company",)),
    ],
)
def test_a_pattern_that_decides_what_is_required_is_tested_like_any_other(
    pattern: str, name: str, missing: tuple[str, ...]
) -> None:
    document = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "company": {"type": "string"}},
        "if": {"properties": {"name": {"pattern": pattern}}},
        "then": {"required": ["company"]},
    }

    assert Form(document).status({"name": name}).missing == missing


def test_a_wide_schema_that_has_itself_is_written_out_once() -> None:
    block = {"type": "object", "properties": {f"p{number}": {"$ref": "#/$defs/block"} for number in range(30)}}
    document = {"type": "object", "$defs": {"block": block}, "properties": {"top": {"$ref": "#/$defs/block"}}}

    part: Any = write_out(document)["properties"]["top"]
    for _ in range(5):
        part = part["properties"]["p29"]

    assert part["type"] == "object"
    assert find_broken_reference(write_out(document)) == "#/$defs/block"
