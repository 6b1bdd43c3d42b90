"""From a word that a form did not understand, an analyst goes on to a form with the change filled in."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.addresses import turn_url
from audit.models import CeAccessLog
from audit.timeline.read_turn import WordLinks
from config_admin.models import CeOutputSchema
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.sign_in import sign_in
from tests.worlds import PIZZA_FORM, create_pizza_form

pytestmark = pytest.mark.django_db


def show_last(client: Client) -> Any:
    turn = CeConversationHistory.objects.latest("turn_no")
    return client.get(turn_url(turn.conversation_id, turn.turn_no))


@pytest.fixture
def caller() -> Caller:
    create_pizza_form()
    caller = Caller()
    for message in ("a party", "2030-03-04", "tartan please"):
        caller.say(message)
    return caller


def get_links(client: Client) -> WordLinks:
    (links,) = show_last(client).context["word_links"]
    assert isinstance(links, WordLinks)
    return links


def save(client: Client, url: str, page: Any) -> None:
    """What a browser sends for the page, with a reason."""
    form = page.context["adminform"].form
    shown = {name: form[name].value() for name in form.fields}
    shown["json_schema"] = form["json_schema"].field.prepare_value(form.initial["json_schema"])
    stamps = re.findall(r'name="(_[a-z]+)" value="([^"]*)"', page.content.decode())
    saved = client.post(url, {**dict(stamps), **{k: v for k, v in shown.items() if v is not None}, "reason": "asked"})
    assert saved.status_code == 302, saved.context["adminform"].form.errors


def test_a_word_is_filled_in_as_a_synonym_and_only_a_save_stores_it(caller: Caller) -> None:
    client = sign_in("ann", "analyst", "qa")
    links = get_links(client)
    assert links.text == "tartan"
    assert [label for label, _ in links.options] == ["Small", "Large"]
    url = dict(links.options)["Small"]
    assert "tartan" not in url

    page = client.get(url)

    form = page.context["adminform"].form
    assert form.initial["json_schema"]["properties"]["size"]["x-options"][0]["synonyms"] == ["tiny", "tartan"]
    assert "“tartan” is filled in as a synonym of “Small”. Save to apply it." in page.content.decode()
    row = CeOutputSchema.objects.get()
    assert row.json_schema == PIZZA_FORM
    assert CeAccessLog.objects.filter(kind="ROW", conversation_id=caller.conversation_id, reader="ann").exists()

    save(client, url, page)
    assert caller.say("tartan please")["context"]["size"] == "S"


def test_a_word_is_filled_in_as_a_small_word_of_the_form(caller: Caller) -> None:
    client = sign_in("ann", "analyst", "qa")
    url = get_links(client).filler_url

    page = client.get(url)

    assert page.context["adminform"].form.initial["json_schema"] == {**PIZZA_FORM, "x-fillers": ["tartan"]}
    save(client, url, page)
    row = CeOutputSchema.objects.get()
    assert row.json_schema == {**PIZZA_FORM, "x-fillers": ["tartan"]}

    address = reverse("admin:config_admin_ceoutputschema_change", args=[row.pk])
    save(client, address, client.get(address))
    row.refresh_from_db()
    assert row.json_schema["x-fillers"] == ["tartan"]


def test_an_option_that_is_gone_is_told_and_the_form_is_as_it_is(caller: Caller) -> None:
    client = sign_in("ann", "analyst", "qa")
    (_, url), *_ = get_links(client).options

    page = client.get(url.replace("option=S", "option=XXL"))

    assert page.context["adminform"].form.initial["json_schema"] == PIZZA_FORM
    assert "has no option “XXL” in the field size now" in page.content.decode()


def test_the_message_is_taught_as_a_phrase(caller: Caller) -> None:
    client = sign_in("ann", "analyst", "qa")

    assert "tartan please" in client.get(get_links(client).teach_url).content.decode()


def test_who_may_not_edit_sees_the_words_without_links(caller: Caller) -> None:
    page = show_last(sign_in("ann", "qa"))

    assert page.context["word_links"] == []
    assert "How the message was read" in page.content.decode()


def test_who_may_not_read_messages_gets_no_word_from_an_address(caller: Caller) -> None:
    client = sign_in("ann")
    rights = Permission.objects.filter(codename__in=("view_ceoutputschema", "change_ceoutputschema"))
    User.objects.get(username="ann").user_permissions.set(rights)
    turn = CeConversationHistory.objects.latest("turn_no")
    row = CeOutputSchema.objects.get()

    page = client.get(f"/admin/config_admin/ceoutputschema/{row.pk}/change/?message_of={turn.pk}&start=0&end=6")

    assert page.status_code == 200
    assert "x-fillers" not in page.context["adminform"].form.initial["json_schema"]
    assert "“tartan”" not in page.content.decode()


def test_the_page_costs_the_same_queries_however_many_words_are_unknown(caller: Caller) -> None:
    client, counts = sign_in("ann", "analyst", "qa"), set()
    show_last(client)
    for message in ("tartan please", "gigantic or minuscule, blue or orange rollerblades with wheels"):
        caller.say(message)
        show_last(client)
        with CaptureQueriesContext(connection) as found:
            show_last(client)
        counts.add(len(found))

    assert len(counts) == 1, counts
