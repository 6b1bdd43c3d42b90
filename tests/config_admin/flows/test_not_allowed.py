"""Values that a flow does not allow together: asked again, at the confirmation too."""

from typing import Any

import pytest

from config_admin.flows.document import FlowRefused, check_flow
from config_admin.flows.mapping import write_rows
from config_admin.flows.reading import read_flow
from config_admin.releases.active import snapshots
from tests.dialogues.rows.worlds import hold, make_caller

WHEN = {
    "combinator": "and",
    "rules": [
        {"field": "lesson", "operator": "is", "value": "motorbike"},
        {
            "field": "day",
            "operator": "notInMonths",
            "value": ["March", "April", "May", "June", "July", "August", "September", "October"],
        },
    ],
}
TEXT = "We teach on motorbikes from March to October only."
SCHOOL: dict[str, Any] = {
    "code": "LESSON", "title": "Driving lesson", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need a driving lesson", "book a lesson"],
    "fields": [
        {"name": "lesson", "title": "Lesson", "type": "choice", "question": "Which lesson?",
         "options": [{"value": "car"}, {"value": "motorbike"}]},
        {"name": "day", "title": "Day", "type": "date", "question": "On which day?"},
        {"name": "phone", "title": "Phone", "type": "text", "question": "What is your number?"},
    ],
    "not_allowed": [{"when": WHEN, "text": TEXT, "field": "day"}],
    "answer": "Booked.",
}  # fmt: skip


@pytest.mark.django_db
def test_a_value_that_is_not_allowed_is_asked_again_while_collecting_and_at_the_confirmation() -> None:
    caller = make_caller(SCHOOL)

    held = hold(
        caller,
        ("book a lesson", "COLLECT", "Which lesson?"),
        ("motorbike", "COLLECT", "On which day?"),
        ("12 January 2027", "COLLECT", f"{TEXT} On which day?"),
        ("12 May 2027", "COLLECT", "What is your number?"),
        ("12345", "CONFIRM", "Please check"),
        ("change the day to 3 December 2027", "COLLECT", f"{TEXT} On which day?"),
        ("3 June 2027", "CONFIRM", "Please check"),
        ("no, a car", "CONFIRM", "Please check"),
        ("change the day to 3 December 2027", "CONFIRM", "Please check"),
        ("make it a motorbike", "COLLECT", f"I have changed that: lesson motorbike. {TEXT} On which day?"),
        ("4 June 2027", "CONFIRM", "Please check"),
        ("yes", "DONE", "Booked."),
    )

    assert held["intent"] == "LESSON"


@pytest.mark.django_db
def test_it_is_one_short_row_and_is_read_back_from_it_in_any_spacing() -> None:
    (row,) = (row for row in write_rows(SCHOOL)["ce_rule"] if row["action"] == "REFUSE_VALUE")
    assert row["action_value"] == f"day: {TEXT}"

    make_caller(SCHOOL)
    reading = read_flow(snapshots.current(), "LESSON")
    assert reading is not None
    assert reading.document["not_allowed"] == SCHOOL["not_allowed"]
    assert (list(reading.list_changed_columns()), reading.missing, reading.other_rows) == ([], (), ())


def make_when(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"combinator": "and", "rules": [{"field": field, "operator": operator, "value": value}]}


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"field": "hour"}, "field: “hour” is not a field of this flow. Its fields are day, lesson, phone."),
        ({"when": make_when("kind", "isEmpty")}, "when: “kind” is not a field of this flow."),
        ({"when": make_when("day", "inMonths", "Marz")}, "needs one of January"),
        ({"text": "Not on {{ day }}."}, "text: The text is sent as it is written."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it_is_named(item: dict[str, Any], problem: str) -> None:
    with pytest.raises(FlowRefused) as refused:
        check_flow({**SCHOOL, "not_allowed": [{**SCHOOL["not_allowed"][0], **item}]})

    assert problem in str(refused.value)
