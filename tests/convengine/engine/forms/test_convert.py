from typing import Any

import pytest

from convengine.engine.forms.convert import clean_value, convert_value
from convengine.engine.forms.form import Form


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (": Irving.", "Irving"),
        ("Irving, thanks!", "Irving"),
        ("Irving please. Thank you.", "Irving"),
        ('"To be, or not."', "To be, or not."),
        ("“Anna”", "Anna"),
        ("O'Hara", "O'Hara"),
        ("thanks", ""),
        ("", ""),
    ],
)
def test_the_words_of_a_value(text: str, value: str) -> None:
    assert clean_value(text) == value


@pytest.mark.parametrize(
    ("declared", "text", "value", "problem"),
    [
        ({"type": "integer"}, "350k", 350000, None),
        ({"type": "integer"}, "3.5", None, "VALUE_INVALID"),
        ({"type": "integer", "maximum": 5}, "6", 6, "VALUE_VIOLATES_SCHEMA"),
        ({"type": ["number", "string"]}, "x", None, "VALUE_INVALID"),
        ({"type": "boolean"}, "Yes", True, None),
        ({"type": "boolean"}, "maybe", None, "VALUE_INVALID"),
        ({"type": "string"}, "  ", None, "VALUE_INVALID"),
        ({"type": "string", "enum": ["Dallas"]}, "dallas", "Dallas", None),
        ({"type": "string", "enum": ["Dallas"]}, "Paris", "Paris", "VALUE_VIOLATES_SCHEMA"),
        ({"type": "string", "format": "date"}, "31 May 2026", "2026-05-31", None),
        ({"type": "string", "format": "hostname"}, "x.org", "x.org", None),
        ({"type": "array"}, "a", None, "TYPE_UNSUPPORTED"),
        ({"type": "integer"}, "null", None, "NULL_NOT_ALLOWED"),
        ({"type": ["integer", "null"]}, "NULL", None, None),
    ],
)
def test_a_text_becomes_a_value_of_the_field(declared: Any, text: str, value: Any, problem: str | None) -> None:
    form = Form({"type": "object", "properties": {"a": declared}, "required": ["a"]})

    converted = convert_value(text, form.fields[0], form)

    assert (converted.value, converted.problem) == (value, problem)


def test_null_clears_what_is_not_required() -> None:
    form = Form({"type": "object", "properties": {"a": {"type": "integer"}}})

    assert convert_value("null", form.fields[0], form).problem is None
