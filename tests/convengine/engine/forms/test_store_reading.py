"""What a reading changes in the context."""

from typing import Any

import pytest

from convengine.engine.forms.form import Form
from convengine.engine.forms.store_reading import store_reading
from convengine.engine.turn.session import Session
from convengine.engine.understanding.reading import Reading, Taken

TEXT = {"type": "string"}
ADDRESS = {"type": "object", "properties": {"city": TEXT, "zip": TEXT}, "required": ["zip"]}
FORM = Form({"type": "object", "properties": {"name": TEXT, "note": TEXT, "address": ADDRESS}, "required": ["name"]})
HELD = {"name": "Ann", "note": "late", "address": {"city": "Rome", "zip": "00184"}}


@pytest.mark.parametrize(
    ("reading", "changed"),
    [
        (Reading(cleared=("note",)), {"note": None}),
        (Reading(cleared=("address.city",)), {"address": {"zip": "00184"}}),
        (Reading(cleared=("address.zip",)), {"address": {"city": "Rome"}}),
        (Reading(named=("address.city",)), {"address": {"zip": "00184"}}),
        (Reading(cleared=("address.street",)), {}),
    ],
)
def test_a_field_inside_an_object_is_emptied_like_any_other(reading: Reading, changed: dict[str, Any]) -> None:
    session = store_reading(Session("c", context=HELD), FORM, reading)

    assert session.context == HELD | changed
    assert FORM.status(session.context).invalid == {}


DAMAGE = Form(
    {
        "type": "object",
        "properties": {"insured": {"type": "boolean"}, "insurer": TEXT, "witness": TEXT},
        "required": ["insured"],
        "allOf": [
            {"if": {"properties": {"insured": {"const": True}}}, "then": {"required": ["insurer"]}},
            {"if": {"properties": {"insured": {"not": {"const": True}}}}, "then": {"properties": {"witness": True}}},
        ],
    }
)


@pytest.mark.parametrize(
    ("held", "taken", "after"),
    [
        ({}, {"insurer": "Alpha"}, {"insurer": "Alpha", "insured": True}),
        ({"insured": False}, {"insurer": "Alpha"}, {"insurer": "Alpha", "insured": False}),
        ({"insured": True, "insurer": "Alpha"}, {"insured": False}, {"insured": False}),
        ({"insured": False, "witness": "Ann"}, {"insured": True}, {"insured": True}),
        (
            {"insured": False, "insurer": "Alpha"},
            {"witness": "Ann"},
            {"insured": False, "insurer": "Alpha", "witness": "Ann"},
        ),
        ({}, {"witness": "Ann"}, {"witness": "Ann"}),
    ],
)
def test_a_value_of_a_dependent_field_decides_and_goes_when_it_applies_no_longer(
    held: dict[str, Any], taken: dict[str, Any], after: dict[str, Any]
) -> None:
    reading = Reading(taken=tuple(Taken(name, value, 0, 0, "ASKED") for name, value in taken.items()))

    assert store_reading(Session("c", context=held), DAMAGE, reading).context == after


@pytest.mark.parametrize("reading", [Reading(cleared=("name",)), Reading(named=("name",))])
def test_a_required_field_that_is_emptied_is_missing(reading: Reading) -> None:
    session = store_reading(Session("c", context=HELD), FORM, reading)

    assert "name" not in session.context
    assert FORM.status(session.context).missing == ("name",)
