from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.forms.form import Form
from convengine.engine.steps.correction.patch import read_patch

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "city": {"type": "string", "enum": ["Dallas", "Irving", "St. Louis"]},
        "dueDate": {"type": "string", "title": "Due date"},
        "express": {"type": "boolean"},
        "rate": {"type": "number"},
        "note": {"type": ["string", "null"], "maxLength": 40},
        "start": {"type": "string", "format": "date"},
        "tags": {"type": "array"},
        "recipient": {"type": "string"},
    },
    "required": ["amount", "city"],
}
HELD = {"amount": 35000, "city": "Dallas", "recipient": "Anna Schmidt"}
FORM = Form(SCHEMA)


def read_changes(text: str) -> dict[str, Any] | str:
    """The changes by field, or the reason why there are none."""
    patch = read_patch(text, FORM, HELD)
    return patch.reason or {change.field.path: change.value for change in patch.changes}


CASES: list[tuple[str, dict[str, Any] | str]] = [
    ("Ohh wait, I missed one zero. Change amount to 350000.", {"amount": 350000}),
    ("change amount to 350,000 please", {"amount": 350000}),
    ("change amount to $350k!", {"amount": 350000}),
    ("change amount to 3.0", {"amount": 3}),
    ("change amount to 3.5", "VALUE_INVALID"),
    ("change the recipient to not Anna", "VALUE_INVALID"),
    ("set the due date to before 2027-03-09", "VALUE_INVALID"),
    ("set the note to before noon please", {"note": "before noon"}),
    ("change the start to after 2027-03-09", "VALUE_INVALID"),
    ("change amount to 1,00", "VALUE_INVALID"),
    ("change amount to 35.000", "VALUE_INVALID"),
    ("change amount to -5", "VALUE_VIOLATES_SCHEMA"),
    ("change rate to 3.5", {"rate": 3.5}),
    ("set the city as irving", {"city": "Irving"}),
    ("set city to st louis", "VALUE_VIOLATES_SCHEMA"),
    ("set city to St. Louis, thanks", {"city": "St. Louis"}),
    ("set express to yes", {"express": True}),
    ("set express: No.", {"express": False}),
    ("set express to maybe", "VALUE_INVALID"),
    ("set tags to a, b", "TYPE_UNSUPPORTED"),
    ("set note to null", {"note": None}),
    ("set express to null", {"express": None}),
    ("set city to null", "NULL_NOT_ALLOWED"),
    ("set note to 'To be announced'", {"note": "To be announced"}),
    ("set note to To be announced", {"note": "To be announced"}),
    (f"set note to {'x' * 41}", "VALUE_VIOLATES_SCHEMA"),
    ("set start to 31 January 2025", {"start": "2025-01-31"}),
    ("set start to 03/04/2025", "DATE_AMBIGUOUS"),
    ("set start to soon", "VALUE_INVALID"),
    ("change amount to 5 and city to Irving", {"amount": 5, "city": "Irving"}),
    ("change amount to 5 and city to Paris", "VALUE_VIOLATES_SCHEMA"),
    ("change amount to 5 and colour to red", "FIELD_UNKNOWN"),
    ("change it to 5", "FIELD_UNKNOWN"),
    ("replace Dallas with Irving", {"city": "Irving"}),
    ("change Anna Schmidt to Berta Maier", {"recipient": "Berta Maier"}),
    ("amount 350000", {"amount": 350000}),
    ("correct the amount, it should be 5", {"amount": 5}),
    ("due date 2025-01-31", {"dueDate": "2025-01-31"}),
    ("the due date is tomorrow. Thanks", {"dueDate": "tomorrow"}),
    ("amount and city", "FIELD_AMBIGUOUS"),
    ("the amount", "VALUE_INVALID"),
    ("no, use Irving not Dallas", {"city": "Irving"}),
    ("Irving, not Dallas", {"city": "Irving"}),
    ("Not Dallas but Irving.", {"city": "Irving"}),
    ("city Irving not Dallas", {"city": "Irving"}),
    ("it should be Berta Maier, not Anna Schmidt", {"recipient": "Berta Maier"}),
    ("use Irving not Paris", "FIELD_UNKNOWN"),
    ("recipient Berta, not Anna Schmidt", {"recipient": "Berta"}),
    ("hm", "FIELD_UNKNOWN"),
    ("", "FIELD_UNKNOWN"),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[case[0] or "blank" for case in CASES])
def test_what_a_text_changes(text: str, expected: dict[str, Any] | str) -> None:
    assert read_changes(text) == expected


def test_the_reason_names_what_it_is_about() -> None:
    assert read_patch("set colour to red", FORM, HELD).field == "colour"
    assert read_patch("set city to Paris", FORM, HELD).field == "city"


def test_an_old_value_in_two_fields_says_nothing() -> None:
    held = {"city": "Dallas", "recipient": "dallas"}

    assert read_patch("Irving not Dallas", FORM, held).reason == "FIELD_UNKNOWN"


PARTS = [
    "change ",
    "amount",
    "city",
    " to ",
    "5",
    "Irving",
    " and ",
    " not ",
    "Dallas",
    ", ",
    ". ",
    "=",
    "null",
    "note ",
    "3,5",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_what_is_applied_fits_the_schema(text: str) -> None:
    for change in read_patch(text, FORM, HELD).changes:
        assert change.value is None or FORM.breaks(change.field, change.value) is None
