from typing import Any

import pytest

from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.spellings import find_choice, list_spellings


def field(declared: Any) -> Field:
    return Form({"type": "object", "properties": {"a": declared}}).fields[0]


CITY = field(
    {
        "type": "string",
        "enum": ["Fort Worth", "ST_LOUIS", "São Paulo"],
        "x-synonyms": {"ST_LOUIS": ["Saint Louis", "STL"]},
    }
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fort worth", "Fort Worth"),
        ("Fort-Worth", "Fort Worth"),
        ("st louis", "ST_LOUIS"),
        ("saint louis", "ST_LOUIS"),
        ("sao paulo", "São Paulo"),
        ("Paris", None),
        ("", None),
    ],
)
def test_a_choice_however_it_is_written(text: str, value: str | None) -> None:
    choice = find_choice(text, CITY)

    assert (choice.value if choice else None) == value


def test_a_synonym_of_two_choices_means_neither() -> None:
    both = field({"enum": ["A1", "B1"], "x-synonyms": {"A1": ["first"], "B1": ["First"]}})

    assert find_choice("first", both) is None
    assert find_choice("a1", both)


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        ({"type": "boolean", "x-synonyms": {"true": ["express"]}}, "express", True),
        ({"type": "string", "x-synonyms": {"NYC": ["big apple"]}}, "Big Apple", "NYC"),
        ({"enum": ["A1"], "x-synonyms": {"first": "A1"}}, "first", "A1"),
        ({"enum": [1, 2], "x-synonyms": {"1": ["high"]}}, "high", 1),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": "ONLY"}, "only", "ONLY"),
        ({"enum": ["A1"], "x-synonyms": {"Z9": ["zed"]}}, "zed", None),
        ({"enum": ["A1"], "x-synonyms": [1]}, "a1", "A1"),
    ],
)
def test_synonyms_of_every_kind(declared: Any, text: str, value: Any) -> None:
    choice = find_choice(text, field(declared))

    assert (choice.value if choice else None) == value


def test_spellings_that_differ_by_marks_are_told_apart_when_written_exactly() -> None:
    languages = field({"enum": ["C", "C++"]})

    assert [spelling.value for spelling in list_spellings(languages)] == ["C", "C++"]
    assert find_choice("c++", languages).value == "C++"  # type: ignore[union-attr]
