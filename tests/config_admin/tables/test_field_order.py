"""A form asks for its fields in the order in which its schema was written."""

import json
from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.files import JSON, export_configuration, read_bytes
from convengine.engine.forms.asking import find_open_fields
from convengine.engine.forms.form import Form
from tests.config_admin.admin.pages import address, fill, newest

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
TEXT = {"type": "string"}


def make_schema(*names: str, **inner: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(names), "properties": {name: inner.get(name, TEXT) for name in names}}


TOOL = make_schema("origin", "to", "departs_at", address=TEXT)
NESTED = make_schema("stay", "at", stay=make_schema("until", "from"))
ORDERED = {
    "a tool's schema": (TOOL, ["origin", "to", "departs_at"]),
    "shorter names later": (make_schema("to", "from", "at"), ["to", "from", "at"]),
    "as a release stores it": (make_schema("at", "from", "to"), ["at", "from", "to"]),
    "fields inside objects": (NESTED, ["stay.until", "stay.from", "at"]),
    "a reference": (
        {**make_schema("who", "day", who={"$ref": "#/$defs/who"}), "$defs": {"who": make_schema("name", "born")}},
        ["who.name", "who.born", "day"],
    ),
    "an object that may be null": (
        make_schema("who", "day", who={"anyOf": [make_schema("name", "born"), {"type": "null"}]}),
        ["who.name", "who.born", "day"],
    ),
    "an order of its own": (
        make_schema("to", "from", "at", at={"x-order": 1}, to={"x-order": 2}, **{"from": {"x-order": 3}}),
        ["at", "to", "from"],
    ),
    "a new field behind the others": (
        make_schema("to", "from", "at", to={"x-order": 1}, **{"from": {"x-order": 2}}),
        ["to", "from", "at"],
    ),
    "a new field between the others": (
        make_schema("to", "at", "from", to={"x-order": 1}, **{"from": {"x-order": 2}}),
        ["to", "at", "from"],
    ),
    "an order of some": (make_schema("a", "b", "c", a={"x-order": 5}), ["b", "c", "a"]),
}
CASES = pytest.mark.parametrize(("schema", "asked"), ORDERED.values(), ids=ORDERED)
ROW = {"intent_code": "LOAN", "state_code": "ANY"}


@pytest.fixture(autouse=True)
def _intent(db: None) -> None:
    m.CeIntent.objects.create(intent_code="LOAN", description="Wants a loan.")


def list_asked() -> list[str]:
    """The fields for which the form of the release asks, in order."""
    bundle = json.loads(export_configuration(form=JSON, with_base=False))
    (row,) = bundle["tables"]["ce_output_schema"]
    return [field.path for field in find_open_fields(Form(row["json_schema"]), {})]


@CASES
def test_a_schema_that_is_pasted_into_the_page_keeps_its_order(
    schema: dict[str, Any], asked: list[str], ada: Client
) -> None:
    fill(ada, address(m.CeOutputSchema, "add"), **ROW, json_schema=json.dumps(schema))
    assert list_asked() == asked

    version = newest().pk
    fill(ada, address(m.CeOutputSchema, "change", m.CeOutputSchema.objects.get().pk))
    assert newest().pk == version


@CASES
def test_a_schema_of_a_file_keeps_its_order(schema: dict[str, Any], asked: list[str]) -> None:
    file = {"tables": {"ce_output_schema": [{**ROW, "json_schema": schema}]}}

    import_document(read_bytes("tools.json", json.dumps(file).encode()), author="ada", reason="a tool")

    assert list_asked() == asked


@CASES
def test_an_export_comes_back_as_it_was(schema: dict[str, Any], asked: list[str]) -> None:
    m.CeOutputSchema.objects.create(**ROW, json_schema=schema)
    data = export_configuration(form=JSON, with_base=False)
    m.CeOutputSchema.objects.all().delete()

    import_document(read_bytes("copy.json", data), author="ada", reason="a copy")

    assert export_configuration(form=JSON, with_base=False) == data


def test_a_form_from_before_keeps_the_order_in_which_it_asks(ada: Client) -> None:
    row = m.CeOutputSchema.objects.create(**ROW, json_schema=TOOL)
    before = list_asked()

    fill(ada, address(m.CeOutputSchema, "change", row.pk), description="Departures")

    assert before == list_asked() == ["departs_at", "origin", "to"]
    assert "x-order" not in json.dumps(m.CeOutputSchema.objects.get().json_schema)


def test_the_page_shows_the_fields_in_the_order_of_the_form() -> None:
    m.CeOutputSchema.objects.create(**ROW, json_schema=ORDERED["an order of its own"][0])

    assert list(m.CeOutputSchema.objects.get().json_schema["properties"]) == ["at", "to", "from"]
