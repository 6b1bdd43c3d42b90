from typing import Any

import pytest

from convengine.engine.values import Kind, Option, field_spec


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"type": "string"}, Kind.TEXT),
        ({"type": "string", "pattern": "^A"}, Kind.PATTERN),
        ({"type": "string", "format": "date"}, Kind.DATE),
        ({"type": "string", "format": "date-time"}, Kind.DATE_TIME),
        ({"type": "string", "x-kind": "postcode"}, Kind.POSTCODE),
        ({"type": "string", "x-kind": "yes-no"}, Kind.YES_NO),
        ({"type": "string", "enum": ["a"]}, Kind.CHOICE),
        ({"type": ["number", "null"]}, Kind.NUMBER),
        ({"type": "number", "x-currency": "eur"}, Kind.MONEY),
        ({"type": "boolean"}, Kind.YES_NO),
        ({"type": "string", "format": "uuid"}, Kind.TEXT),
        ({"type": "string", "x-kind": "unheard-of"}, Kind.TEXT),
    ],
)
def test_the_kind_follows_from_the_property(declared: dict[str, Any], kind: Kind) -> None:
    assert field_spec("field", declared).kind == kind


def test_options_have_labels_and_synonyms() -> None:
    listed = field_spec("a", {"x-options": [{"value": "C", "label": "Cleaning", "synonyms": ["tidy"]}, "Pain"]}).options

    assert listed == (Option("C", "Cleaning", ("tidy",)), Option("Pain", "Pain"))
    assert listed[0].spellings == ("Cleaning", "C", "tidy")


def test_an_enum_has_the_synonyms_of_its_values() -> None:
    assert field_spec("a", {"enum": ["big", None, 3], "x-synonyms": {"big": ["large"], "3": "three"}}).options == (
        Option("big", "big", ("large",)),
        Option(3, "3", ("three",)),
    )


@pytest.mark.parametrize(
    ("declared", "maximum"),
    [
        ({"title": "Date of birth"}, "today"),
        ({"title": "Geburtsdatum des Kindes"}, "today"),
        ({"title": "Day"}, None),
        ({"title": "Date of birth", "x-max": "today-18y"}, "today-18y"),
        ({"title": "Birthday party", "x-min": "today"}, None),
    ],
)
def test_a_day_of_birth_lies_in_the_past(declared: dict[str, Any], maximum: str | None) -> None:
    assert field_spec("day", {"type": "string", "format": "date", **declared}).maximum == maximum
