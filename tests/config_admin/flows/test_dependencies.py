"""*Ask only if*: written as a rule of the schema, checked, and kept in a conversation."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin.flows.document import FlowRefused, check_flow
from config_admin.flows.mapping import normalise_flow, write_rows
from config_admin.flows.reading import read_flow
from config_admin.flows.saving import create_flow
from config_admin.flows.summary import describe_changes, summarise_flow
from config_admin.releases.active import snapshots
from convengine.engine.forms.form import Form
from tests.api import Caller
from tests.config_admin.flows.test_page import send
from tests.config_admin.flows.test_reading import BASE
from tests.worlds import create_help_desk

PETS = {
    "name": "pet", "title": "Kind of pet", "type": "choice",
    "options": [{"value": "cat"}, {"value": "dog", "label": "a dog", "synonyms": ["puppy"]}],
}  # fmt: skip
BREED = {"name": "breed", "title": "Breed", "type": "short_text", "question": "Which breed?"}
CATS = {"name": "indoor", "title": "Indoor cat", "type": "yes_no", "required": False, "question": "Does it stay in?"}


def depends(field: dict[str, Any], operator: str, value: Any, on: str = "pet") -> dict[str, Any]:
    return {**field, "only_if": {"field": on, "operator": operator, "value": value}}


FLOW: dict[str, Any] = {
    **BASE, "kind": "collect", "title": "Stay of a pet", "phrases": ["my pet needs a place"],
    "fields": [PETS, depends(BREED, "=", "dog"), depends(CATS, "!=", "dog")],
}  # fmt: skip


def test_it_is_written_as_rules_of_the_schema_and_read_back() -> None:
    schema: Any = write_rows(FLOW)["ce_output_schema"][0]["json_schema"]

    assert schema["required"] == ["pet"]
    assert schema["allOf"] == [
        {"if": {"properties": {"pet": {"const": "dog"}}, "required": ["pet"]}, "then": {"required": ["breed"]}},
        {
            "if": {"properties": {"pet": {"not": {"const": "dog"}}}, "required": ["pet"]},
            "then": {"properties": {"indoor": True}},
        },
    ]
    assert Form(schema).problem is None
    assert normalise_flow(FLOW)["fields"] == FLOW["fields"]


@pytest.mark.parametrize(
    ("only_if", "problem"),
    [
        ({"field": "breed", "operator": "=", "value": "x"}, "is not an earlier field"),
        ({"field": "nothing", "operator": "=", "value": "x"}, "Use pet."),
        ({"field": "pet", "operator": "=", "value": "dgo"}, "Did you mean dog?"),
    ],
)
def test_it_names_an_earlier_field_and_one_of_its_values(only_if: dict[str, Any], problem: str) -> None:
    with pytest.raises(FlowRefused, match=problem):
        check_flow({**FLOW, "fields": [PETS, {**BREED, "only_if": only_if}]})


def test_it_is_told_in_words() -> None:
    old = {**FLOW, "fields": [PETS, BREED, CATS]}

    assert "Only if Kind of pet is dog" in summarise_flow(FLOW)[2].lines
    change = describe_changes(normalise_flow(old), normalise_flow(FLOW))[0]
    assert (change.label, change.before, change.after) == ("Breed, Ask only if", "nothing", "pet is dog")


@pytest.mark.django_db
@pytest.mark.parametrize(("pet", "question"), [("a dog", "Which breed?"), ("a cat", "Does it stay in?")])
def test_only_what_applies_is_asked(pet: str, question: str) -> None:
    create_help_desk()
    create_flow(FLOW, author="ada", reason="begin")
    caller = Caller()
    caller.say("my pet needs a place")

    assert question in str(caller.say(pet))


@pytest.mark.django_db
def test_it_is_written_on_the_page_by_title_and_label(ben: Client) -> None:
    values = {
        "field-0-title": "Kind of pet", "field-0-type": "choice", "field-0-options": "cat\ndog = a dog: puppy",
        "field-0-ORDER": "1", "field-0-required": "yes", "field-0-min": "",
        "field-1-title": "Breed", "field-1-type": "short_text", "field-1-options": "", "field-1-required": "yes",
        "field-1-ORDER": "2", "field-1-only_if": "kind of pet", "field-1-only_if_operator": "=",
        "field-1-only_if_value": "A dog",
    }  # fmt: skip
    wrong = send(ben, **values | {"field-1-only_if_value": "fish"})
    unknown = send(ben, **values | {"field-1-only_if": "colour"})
    saved = send(ben, **values, _save="1", reason="pets")

    assert "“Kind of pet” has no choice “fish”" in wrong.content.decode()
    assert "“colour” is not an earlier field with choices, a number, or yes and no. Enter Kind of pet." in (
        unknown.content.decode()
    )
    assert saved.status_code == 302, saved.context["problems"]
    reading = read_flow(snapshots.current(), "BOOK_TABLE")
    assert reading is not None
    assert reading.document["fields"][1]["only_if"] == {"field": "kindOfPet", "operator": "=", "value": "dog"}
    shown = ben.get(reverse("admin:config_admin_ceintent_flow", args=["BOOK_TABLE"])).context["fields"][1]
    assert [shown[name].value() for name in ("only_if", "only_if_operator", "only_if_value")] == [
        "Kind of pet", "=", "dog",
    ]  # fmt: skip
