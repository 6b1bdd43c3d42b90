"""The summary describes a flow and its changes with the labels of the page."""

from typing import Any

import pytest

from config_admin.flows.mapping import normalise_flow
from config_admin.flows.summary import describe_changes, describe_form_difference, summarise_flow
from convengine.engine.text.difference import ABSENT, diff_json
from tests.config_admin.flows.test_reading import BASE

pytestmark = pytest.mark.django_db

FLOW: dict[str, Any] = {
    **BASE,
    "kind": "collect",
    "fields": [
        {"name": "day", "title": "day", "type": "date", "min": "today+1d", "max": "today+3m"},
        {"name": "place", "title": "place", "type": "choice", "options": [{"value": "in", "synonyms": ["inside"]}]},
        {"name": "phone", "title": "phone", "type": "phone", "required": False},
    ],
    "questions_and_answers": [{"questions": ["how much is it"], "answer": "It is free."}],
}


def test_a_new_flow_is_summarised() -> None:
    parts = {part.title: part.lines for part in summarise_flow(FLOW)}

    assert parts["Phrases of Book a table"] == ["book a table", "I want a table"]
    assert parts["Field 1: day"] == [
        "Date, required, on or after tomorrow, on or before in 3 months",
        "Asks: Which day?",
    ]
    assert "Choice: in: inside" in parts["Field 2: place"]
    assert parts["Field 3: phone"][1] == "Never asked, because it is optional and has no question"
    assert parts["After a no"] == ["Ask what to change"]
    assert parts["Answered in between"] == ["how much is it", "Answer: It is free."]


def test_the_summary_of_a_field_says_each_of_its_values() -> None:
    field = {"name": "day", "title": "Day", "type": "date", "min": "today"}
    texts = {"again": "Again?", "invalid": "No.", "pattern": "[A-Z]", "currency": "EUR", "country": "DE", "finder": "x"}
    last = {"name": "last", "title": "Last day", "type": "date", "required": False, "question": "Until when?"}

    parts = {
        part.title: part.lines
        for part in summarise_flow({**FLOW, "fields": [field, {**last, "max": "today+7d", "after": "day", **texts}]})
    }

    assert parts["Field 2: Last day"][:2] == ["Date, optional, on or before in a week", "Asks: Until when?"]
    assert sorted(line.partition(": ")[2] for line in parts["Field 2: Last day"][2:]) == sorted(
        ["day", *texts.values()]
    )
    assert "Not before: day" in parts["Field 2: Last day"]


def test_changes_are_named_as_on_the_page() -> None:
    day, _, phone = FLOW["fields"]
    new = {
        **FLOW,
        "on_no": "CANCEL",
        "phrases": ["book a table", "a table please"],
        "fields": [
            {**phone, "required": True},
            {**day, "max": "today+90d"},
            {"name": "x", "title": "x", "type": "text"},
        ],
        "questions_and_answers": [],
    }

    changes = describe_changes(normalise_flow(FLOW), normalise_flow(new))

    assert [(each.label, each.before, each.after) for each in changes] == [
        ("After a no", "Ask what to change", "Cancel"),
        ("Phrase", "I want a table", ABSENT),
        ("Phrase", ABSENT, "a table please"),
        ("Field", "place", ABSENT),
        ("phone, Needed", "Optional", "Required"),
        ("day, On or before", "in 3 months", "in 90 days"),
        ("Field", ABSENT, "x (Text)"),
        ("Order of the fields", "day, place, phone", "phone, day, x"),
        ("Answered in between", "how much is it – It is free.", ABSENT),
    ]


def make_schema(**keys: Any) -> dict[str, Any]:
    time = {"type": "string", "format": "time", "title": "time", "x-max": keys.pop("last")}
    return {"type": "object", "properties": {"time": time}, "required": ["time"], **keys}


def test_bounds_and_choices_of_the_page_have_its_words() -> None:
    old = make_schema(last="19:00", **{"x-on-leave": "ASK", "x-spoken": True})
    new = make_schema(last="20:00", **{"x-on-leave": "LEAVE", "x-spoken": False})
    differences = [describe_form_difference(each, old, new) for each in diff_json(old, new)]

    assert {each.label or each.path_text: [part.text for part in each.segments] for each in differences} == {
        "time, On or before": ["19:00", "20:00"],
        "When the user wants to leave": ["Ask first, if values were given", "Leave at once"],
        "x-spoken": ["true", "false"],
    }
