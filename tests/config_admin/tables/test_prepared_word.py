"""A word is added where the form has the option: to `x-options`, or to `x-synonyms` of an enum."""

from typing import Any

import pytest
from django.test import RequestFactory

from config_admin.tables import prepared_word
from config_admin.tables.prepared_word import prepare_word


def prepare(monkeypatch: pytest.MonkeyPatch, declared: dict[str, Any], option: str, path: str = "size") -> Any:
    monkeypatch.setattr(prepared_word, "read_given_words", lambda request: "huge")
    request = RequestFactory().get("/", {"field": path, "option": option})
    outer, _, inner = path.rpartition(".")
    schema: dict[str, Any] = {"properties": {inner: declared}}
    if outer:
        schema = {"properties": {outer: schema}}
    prepared = prepare_word(request, schema)
    assert prepared is not None
    if prepared.schema is None:
        return None
    held = prepared.schema["properties"][outer] if outer else prepared.schema
    return held["properties"][inner]


def test_an_enum_gets_a_synonym(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = {"enum": ["S", "L"], "x-synonyms": {"L": "big"}}

    assert prepare(monkeypatch, declared, "L")["x-synonyms"] == {"L": ["big", "huge"]}
    assert prepare(monkeypatch, {"enum": [1, 2]}, "2")["x-synonyms"] == {"2": ["huge"]}
    assert declared == {"enum": ["S", "L"], "x-synonyms": {"L": "big"}}


def test_a_field_inside_an_object_gets_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = {"x-options": [{"label": "Large"}]}

    assert prepare(monkeypatch, declared, "Large", "pizza.size")["x-options"] == [
        {"label": "Large", "synonyms": ["huge"]}
    ]


def test_an_option_without_labels_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepare(monkeypatch, {"x-options": ["L"]}, "L") is None
    assert prepare(monkeypatch, {"type": "string"}, "L") is None


def test_a_text_becomes_a_long_one() -> None:
    request = RequestFactory().get("/", {"field": "story", "long": "1"})
    prepared = prepare_word(request, {"properties": {"story": {"type": "string", "title": "Story"}}})

    assert prepared is not None
    assert prepared.schema["properties"]["story"]["x-long"] is True
    assert "“Story” is filled in as a long text" in prepared.message
    gone = prepare_word(request, {"properties": {}})
    assert gone is not None
    assert gone.schema is None
