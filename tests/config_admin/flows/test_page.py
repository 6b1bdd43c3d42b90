"""Starting a flow: the form, the look at what it makes, and what it made."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.editing.links import workspace_url
from config_admin.flows.page import _name, _name_apart
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db

FORM = {
    "flow": "collect",
    "code": "book_table",
    "name": "Book a table",
    "description": "A guest wants a table.",
    "phrases": "I want to book a table\nreserve a table",
    "wish-TOTAL_FORMS": "6",
    "wish-INITIAL_FORMS": "0",
    "wish-0-label": "the number of guests",
    "wish-0-kind": "number",
    "wish-1-label": "Where to sit",
    "wish-1-kind": "choice",
    "wish-1-choices": "inside, outside",
}


def send(client: Client, **values: Any) -> Any:
    return client.post(reverse("admin:config_admin_ceintent_start"), FORM | values)


def test_nothing_is_made_before_it_was_looked_at_and_a_reason_given(ben: Client) -> None:
    shown = send(ben).content.decode()

    assert "When the form of BOOK_TABLE is complete in state COLLECT, set state to CONFIRM." in shown
    assert "numberOfGuests*, whereToSit*" in shown
    assert "Enter a reason for this change" in send(ben, _make="1").content.decode()
    assert not m.CeIntent.objects.filter(pk="BOOK_TABLE").exists()


def test_it_is_made_as_one_release_and_opens_its_workspace(ben: Client) -> None:
    before = newest().pk
    answer = send(ben, _make="1", reason="we take bookings")

    assert answer["Location"] == workspace_url("BOOK_TABLE")
    release = newest()
    assert (release.pk, release.author, release.reason) == (before + 1, "ben", "we take bookings")
    schema = m.CeOutputSchema.objects.get(intent_code="BOOK_TABLE").json_schema
    assert schema["properties"]["numberOfGuests"] == {"type": "number", "title": "number of guests", "x-order": 1}
    assert schema["properties"]["whereToSit"]["x-options"] == [
        {"value": "inside", "label": "inside"},
        {"value": "outside", "label": "outside"},
    ]
    assert m.CeIntentClassifier.objects.filter(intent_code="BOOK_TABLE").count() == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"code": ""}, "This field is required."),
        ({"phrases": ""}, "This field is required."),
        ({"wish-0-label": "", "wish-1-label": ""}, "Enter at least one field."),
        ({"wish-1-choices": " , "}, "Enter the choices, separated by commas."),
        ({"flow": "answer"}, "Enter the answer."),
        ({"flow": "lookup"}, "Choose a tool."),
        ({"code": "LOAN"}, "The intent LOAN already exists. Choose another code."),
        ({"code": "book table", "_make": "1", "reason": "x"}, "Nothing was created"),
    ],
)
def test_what_is_missing_is_told_and_nothing_is_lost_or_made(ben: Client, values: dict[str, str], message: str) -> None:
    make(m.CeIntent)
    before = newest().pk
    page = send(ben, **values).content.decode()

    assert message in page
    assert "A guest wants a table." in page
    assert newest().pk == before


def test_who_may_not_add_rows_has_no_such_page(somebody: Any) -> None:
    assert somebody("quinn", "qa").get(reverse("admin:config_admin_ceintent_start")).status_code == 403


def test_fields_in_any_letters_keep_names_of_their_own() -> None:
    titles = ("Größe", "имя", "адрес", "size", "size")
    assert [field["name"] for field in _name_apart([{"name": _name(title)} for title in titles])] == [
        "grosse",
        "value",
        "value2",
        "size",
        "size2",
    ]
