"""Each slot of a form becomes a field of a kind."""

from typing import Any

import pytest

from config_admin.contrib.come_over.fields import list_slots, write_fields
from config_admin.contrib.come_over.outcomes import Outcome
from config_admin.contrib.come_over.project import Project
from convengine.evaluation.labelled import LabelledMessage

YES_OR_NO = [{"type": "from_intent", "intent": "affirm"}, {"type": "from_intent", "intent": "deny"}]


def entity(name: str) -> list[dict[str, str]]:
    return [{"type": "from_entity", "entity": name}]


def make_project(name: str, **slot: Any) -> Project:
    """A project with one form that asks for one slot."""
    project = Project("x", forms={"form": {name: []}}, slots={name: {"type": "text", "mappings": [], **slot}})
    project.responses[f"utter_ask_{name}"] = [{"text": "Which one?"}]
    return project


def write_field(project: Project) -> dict[str, Any]:
    [field] = write_fields(list_slots(project, "form")).fields
    assert field.pop("question") == "Which one?"
    return {key: value for key, value in field.items() if key not in ("name", "title")}


@pytest.mark.parametrize(
    ("slot", "kind"),
    [
        ({"type": "bool"}, {"type": "yes_no"}),
        ({"type": "rasa.shared.core.slots.BooleanSlot"}, {"type": "yes_no"}),
        ({"mappings": YES_OR_NO}, {"type": "yes_no"}),
        ({"mappings": [*entity("thing"), *YES_OR_NO]}, {"type": "text"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "float", "min_value": "0.0", "max_value": "1.0"}, {"type": "number"}),
        ({"type": "float", "min_value": "0.5", "max_value": "1e9"}, {"type": "number", "min": 0.5}),
        ({"type": "categorical", "values": ["a", "__other__"]}, {"type": "choice", "options": [{"value": "a"}]}),
        ({"mappings": entity("email")}, {"type": "email"}),
        ({"mappings": entity("phone-number")}, {"type": "phone"}),
        ({"mappings": entity("amount-of-money")}, {"type": "money"}),
        ({"mappings": entity("number")}, {"type": "number"}),
        ({"mappings": entity("order_number")}, {"type": "text"}),
        ({"mappings": [{"type": "from_text"}]}, {"type": "text"}),
    ],
)
def test_the_kind_follows_from_type_mapping_and_name(slot: dict[str, Any], kind: dict[str, Any]) -> None:
    assert write_field(make_project("thing", **slot)) == kind


def test_buttons_lookup_and_synonyms_make_choices() -> None:
    project = make_project("shore", mappings=entity("shore"))
    project.lookups["shore"] = ["North bank", "South bank"]
    project.synonyms = {"north bank": "N", "far side": "N", "elsewhere": "other"}
    assert write_field(project)["options"] == [
        {"value": "N", "label": "North bank", "synonyms": ["far side"]},
        {"value": "South bank"},
    ]
    buttons = [{"title": title, "payload": f'/x{{"shore": "{title[4]}"}}'} for title in ("The North", "The South")]
    project.responses["utter_ask_shore"][0] |= {"buttons": buttons}  # type: ignore[operator]
    assert write_field(project)["options"][0] == {
        "value": "N",
        "label": "The North",
        "synonyms": ["North bank", "far side"],
    }


def test_intents_that_give_values_make_choices() -> None:
    mappings = [{"type": "from_intent", "intent": f"choose_{value}", "value": value} for value in ("canoe", "raft")]
    project = make_project("boat", mappings=mappings)
    project.examples["choose_raft"] = [LabelledMessage("many logs"), LabelledMessage("a" * 201)]
    buttons = [{"title": "A canoe", "payload": "/choose_canoe"}, {"title": "Something else", "payload": "/faq"}]
    project.responses["utter_ask_boat"] = [{"text": "Which one?", "buttons": buttons}]
    assert write_field(project)["options"] == [
        {"value": "canoe"}, {"value": "raft", "synonyms": ["many logs"]},
    ]  # fmt: skip
    buttons[1]["payload"] = "/choose_raft"
    assert [option["label"] for option in write_field(project)["options"]] == ["A canoe", "Something else"]
    project.slots["boat"] = {"type": "text", "mappings": [*mappings, {"type": "from_text"}]}
    assert write_field(project) == {"type": "text"}


def test_buttons_may_send_texts() -> None:
    project = make_project("boat", mappings=[{"type": "from_text"}])
    buttons = [{"title": "By the hour", "payload": "hourly"}]
    project.responses["utter_ask_boat"] = [{"text": "Which one?", "buttons": buttons}]
    assert write_field(project) == {"type": "text"}
    buttons.append({"title": "Daily", "payload": "Daily"})
    assert write_field(project)["options"] == [{"value": "hourly", "label": "By the hour"}, {"value": "Daily"}]


def test_regular_expressions_count_in_any_case_of_letters() -> None:
    project = make_project("licence", mappings=entity("licence"))
    project.patterns["licence"] = [r"[a-z]{2}\d{3}"]
    project.examples["x"] = [LabelledMessage("my AB123", values={"licence": "AB123"})]
    assert write_field(project) == {"type": "pattern", "pattern": r"[A-Za-z]{2}\d{3}", "examples": ["AB123"]}
    project.patterns["licence"] = [r"(?=x)\d"]
    assert write_field(project) == {"type": "text"}


def test_examples_that_are_alike_make_a_pattern() -> None:
    project = make_project("licence", mappings=entity("licence"))
    project.examples["x"] = [LabelledMessage(text, values={"licence": text}) for text in ("KP-1", "KP-2", "KR-3")]
    assert write_field(project)["pattern"] == "[A-Z]{2}-[0-9]"


def test_mappings_of_other_forms_do_not_count() -> None:
    mappings = [{**each, "conditions": [{"active_loop": "other"}]} for each in YES_OR_NO]
    assert write_field(make_project("thing", mappings=mappings)) == {"type": "text"}


def test_a_last_question_for_a_yes_is_the_confirmation() -> None:
    project = make_project("boat")
    project.forms["form"]["is_right"] = []
    project.slots["is_right"] = {"type": "bool", "mappings": []}
    project.responses["utter_ask_is_right"] = [{"text": "A {boat}, then?"}]
    written = write_fields(list_slots(project, "form"))
    assert ([field["name"] for field in written.fields], written.confirmation) == (["boat"], "A {{ boat }}, then?")
    assert written.entries[-1].becomes == "Confirmation"


def test_questions_of_code_need_a_person() -> None:
    project = make_project("boat")
    project.actions.append("action_ask_boat")
    [line] = write_fields(list_slots(project, "form")).entries
    assert (line.outcome, line.reason) == (Outcome.PARTLY, "by its question; action_ask_boat asks by code")
