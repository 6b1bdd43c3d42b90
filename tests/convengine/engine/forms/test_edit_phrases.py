from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.forms.edit_phrases import (
    find_edit_clauses,
    resolve_field,
    resolves_to_one_field,
    split_sentences,
)
from convengine.engine.forms.form import Form
from tests.examples import count_examples

CASES = [
    ("change amount to 350000", [("amount", "350000")]),
    ("Ohh wait, I missed one zero. Change amount to 350000.", [("amount", "350000")]),
    ("please SET our City as irving", [("City", "irving")]),
    ("update express=yes", [("express", "yes")]),
    ("set amount: 5", [("amount", "5")]),
    ("replace Dallas with Irving", [("Dallas", "Irving")]),
    ("change amount to 5 and city to Irving", [("amount", "5"), ("city", "Irving")]),
    (
        "change amount to 1,000, city to Irving, and set express to no",
        [("amount", "1,000"), ("city", "Irving"), ("express", "no")],
    ),
    ("set the title to war and peace", [("title", "war and peace")]),
    ("make sure you change the amount to 5", [("amount", "5")]),
    ("set city to St. Louis. Thanks!", [("city", "St. Louis")]),
    ("set size to M. Thanks", [("size", "M. Thanks")]),
    ("change the amount", []),
    ("change amount to", []),
    ("that is correct, amount: 5", []),
    ("I changed amount to 5", []),
    ("", []),
    (None, []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[str(case[0]) for case in CASES])
def test_explicit_edits_are_found_anywhere(text: str | None, expected: list[tuple[str, str]]) -> None:
    assert [(clause.field, clause.value) for clause in find_edit_clauses(text)] == expected


def test_a_field_has_at_most_sixty_characters() -> None:
    assert find_edit_clauses(f"set {'a' * 60} to 5")
    assert find_edit_clauses(f"set {'a' * 61} to 5") == ()


@settings(max_examples=count_examples(200))
@given(
    st.lists(st.sampled_from([*"ab, .=:?!", "set ", "change ", " to ", " and ", "amount "]), max_size=40).map("".join)
)
def test_any_text_can_be_read(text: str) -> None:
    for clause in find_edit_clauses(text):
        assert clause.field in text
        assert clause.value in text
        assert 0 < len(clause.field) <= 60


def test_a_long_text_of_joints_is_read_at_once() -> None:
    assert len(find_edit_clauses("set a to 1" + ", b to 2" * 4000)) <= 21


def test_sentences_end_at_marks_that_end_something() -> None:
    assert list(split_sentences("Rate 3.5? See Mr. X! Now")) == ["Rate 3.5", "See Mr. X", "Now"]


LOAN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "x-labels": ["loan sum"]},
        "city": {"type": "string", "description": "where it is to be delivered"},
        "dueDate": {"type": "string", "title": "Due date", "description": "day of the first payment"},
        "paymentDate": {"type": "string", "title": "Day of payment"},
    },
}


@pytest.mark.parametrize(
    ("phrase", "path", "reason"),
    [
        ("amount", "amount", None),
        ("Loan Sum", "amount", None),
        ("due date", "dueDate", None),
        ("dueDate", "dueDate", None),
        ("due_date", "dueDate", None),
        ("due", "dueDate", None),
        ("date", None, "FIELD_AMBIGUOUS"),
        ("first payment", "dueDate", None),
        ("day of payment", "paymentDate", None),
        ("delivered", "city", None),
        ("it", None, "FIELD_UNKNOWN"),
        ("it is", None, "FIELD_UNKNOWN"),
        ("colour", None, "FIELD_UNKNOWN"),
        ("", None, "FIELD_UNKNOWN"),
    ],
)
def test_a_phrase_means_the_field_with_the_most_points(phrase: str, path: str | None, reason: str | None) -> None:
    resolution = resolve_field(phrase, Form(LOAN).fields)

    assert (resolution.field and resolution.field.path, resolution.reason) == (path, reason)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("change the amount to 350000", True),
        ("oh wait, set due date to tomorrow", True),
        ("change the date to tomorrow", False),
        ("change it to 5", False),
        ("change flow", False),
        ("amount 350000", False),
        (None, False),
    ],
)
def test_an_explicit_edit_of_one_field_is_recognised(text: str | None, expected: bool) -> None:
    assert resolves_to_one_field(text, LOAN) is expected


@pytest.mark.parametrize("schema", [None, "<xml/>", {"type": "object"}, {"properties": {"a": True}}])
def test_a_schema_without_fields_has_nothing_to_change(schema: Any) -> None:
    assert not resolves_to_one_field("set amount to 5", schema)
