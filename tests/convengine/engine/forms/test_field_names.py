from typing import Any

import pytest

from convengine.engine.forms.field_names import resolve_field, resolves_to_one_field
from convengine.engine.forms.form import Form

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
    found = resolve_field(phrase, Form(LOAN).fields)

    assert (found.field and found.field.path, found.reason) == (path, reason)


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
