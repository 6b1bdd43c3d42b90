from typing import Any

import pytest

from convengine.engine.forms.form import Form
from convengine.engine.steps.forms.sanitise import sanitise_values

FORM = Form(
    {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 1},
            "months": {"type": "integer"},
            "name": {"type": "string"},
            "agreed": {"type": "boolean"},
            "city": {"type": "string", "enum": ["New York", "Dallas"], "x-synonyms": {"Dallas": ["big d"]}},
            "on": {"type": "string", "format": "date"},
            "note": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "address": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "required": ["city", "zip"],
            },
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}},
                    "required": ["sku", "quantity"],
                },
            },
            "free": {"type": "object"},
        },
        "required": ["amount", "city"],
    }
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"amount": 24}, {"amount": 24}),
        ({"amount": "24"}, {"amount": 24}),
        ({"amount": "1,200.50"}, {"amount": 1200.5}),
        ({"months": 24.0}, {"months": 24}),
        ({"months": "24"}, {"months": 24}),
        ({"name": 9912}, {"name": "9912"}),
        ({"name": "  Al "}, {"name": "Al"}),
        ({"agreed": "yes"}, {"agreed": True}),
        ({"agreed": False}, {"agreed": False}),
        ({"city": "new_york"}, {"city": "New York"}),
        ({"city": "Big D"}, {"city": "Dallas"}),
        ({"on": "2026-05-01"}, {"on": "2026-05-01"}),
        ({"tags": "red"}, {"tags": ["red"]}),
        ({"tags": ["red", 5]}, {"tags": ["red", "5"]}),
        ({"address": {"zip": "1"}}, {"address": {"zip": "1"}}),
        ({"items": [{"sku": "a"}, {"quantity": "2"}]}, {"items": [{"sku": "a"}, {"quantity": 2}]}),
        ({"free": {"any": 1}}, {"free": {"any": 1}}),
    ],
)
def test_what_fits_or_can_be_made_to_fit_is_kept(said: Any, kept: Any) -> None:
    found = sanitise_values(FORM, said)

    assert found.values == kept
    assert type(next(iter(found.values.values()))) is type(next(iter(kept.values())))
    assert found.rejected == {}


@pytest.mark.parametrize(
    "said",
    [{"amount": None}, {"name": " "}, {"tags": []}, {"address": {}}, {"note": None}, {"name": "null"}, {}, [], "x", 5,
     None, {"address": {"city": ""}}],
)  # fmt: skip
def test_nothing_said_is_no_value_and_no_fault(said: Any) -> None:
    found = sanitise_values(FORM, said)

    assert (found.values, found.fields) == ({}, [])


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ({"intent_lock": {"locked": False}}, {"intent_lock": "UNDECLARED"}),
        ({"amount": "much"}, {"amount": "VALUE_INVALID"}),
        ({"amount": True}, {"amount": "VALUE_INVALID"}),
        ({"amount": 0.5}, {"amount": "VALUE_VIOLATES_SCHEMA"}),
        ({"amount": {"of": 1}}, {"amount": "VALUE_INVALID"}),
        ({"months": 2.5}, {"months": "VALUE_INVALID"}),
        ({"name": True}, {"name": "VALUE_INVALID"}),
        ({"name": ["a"]}, {"name": "VALUE_INVALID"}),
        ({"city": "Paris"}, {"city": "VALUE_VIOLATES_SCHEMA"}),
        ({"on": "someday"}, {"on": "VALUE_INVALID"}),
        ({"address": "Dallas"}, {"address": "TYPE_UNSUPPORTED"}),
        ({"address": {"city": "Dallas", "approval": True}}, {"address.approval": "UNDECLARED"}),
        ({"items": [{"sku": "a", "x": 1}, "b"]}, {"items.0.x": "UNDECLARED", "items.1": "TYPE_UNSUPPORTED"}),
    ],
)
def test_what_does_not_fit_is_left_out_with_the_reason(said: Any, rejected: Any) -> None:
    assert sanitise_values(FORM, said).rejected == rejected


def test_what_is_kept_is_named_by_its_path() -> None:
    found = sanitise_values(FORM, {"address": {"city": "Dallas"}, "amount": 5, "agreed": 7})

    assert found.fields == ["address.city", "amount"]
    assert "agreed" not in found.values


def test_an_answer_without_end_is_cut() -> None:
    deep: dict[str, Any] = {"type": "object", "properties": {}}
    deep["properties"]["a"] = deep
    said: dict[str, Any] = {"a": "x"}
    for _ in range(200):
        said = {"a": said}

    assert sanitise_values(Form({"type": "object", "properties": {"a": deep}}), said).fields == []
