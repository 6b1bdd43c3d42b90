"""The words for differences of a form are those of its flow's page."""

from typing import Any

from config_admin.flows.form_diff import describe_form_difference
from convengine.engine.text.difference import diff_json


def make_schema(**keys: Any) -> dict[str, Any]:
    time = {"type": "string", "format": "time", "title": "time", "x-max": keys.pop("last")}
    return {"type": "object", "properties": {"time": time}, "required": ["time"], **keys}


def test_bounds_and_choices_of_the_page_have_its_words() -> None:
    old = make_schema(last="19:00", **{"x-on-leave": "ASK", "x-spoken": True})
    new = make_schema(last="20:00", **{"x-on-leave": "LEAVE", "x-spoken": False})
    differences = [describe_form_difference(each, old, new) for each in diff_json(old, new)]

    assert {each.label or each.path_text: [part.text for part in each.segments] for each in differences} == {
        "time, To": ["19:00", "20:00"],
        "When the user wants to leave": ["Ask first, if values were given", "Leave at once"],
        "x-spoken": ["true", "false"],
    }
