"""The country of the customers: asked once where a flow is made, stored for the workspace, and read by phone fields."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.releases.active import snapshots
from convengine.engine.forms.settings import COUNTRY
from convengine.engine.turn import live_settings
from tests.api import Caller
from tests.config_admin.admin.pages import newest
from tests.config_admin.flows.test_page import FORM, send
from tests.config_admin.workplace.test_settings_page import edit
from tests.dialogues.rows.worlds import get_text, say

pytestmark = pytest.mark.django_db

QUESTION = "Which country are your customers in?"
#: A flow with a phone field, and the same one without.
PHONE = {"field-1-type": "phone", "field-1-required": "yes", "field-1-title": "Phone", "field-1-options": ""}
SAVE = {"_save": "1", "reason": "we take bookings"}


def read_country() -> str:
    return str(live_settings.read(snapshots.current(), COUNTRY).value)


def is_asked(response: Any) -> bool:
    asks: bool = response.context["asks_country"]
    assert asks is ('data-asked="country" hidden' not in response.content.decode())
    return asks


def test_a_phone_field_asks_for_it_while_the_flow_is_typed_and_others_never_do(ben: Client) -> None:
    assert not is_asked(ben.get(reverse("admin:config_admin_ceintent_start")))
    assert not is_asked(send(ben, _check="1"))
    assert is_asked(send(ben, _check="1", **PHONE))
    assert not is_asked(send(ben, _check="1", **PHONE, **{"field-1-country": "Germany"}))
    assert not is_asked(send(ben, _check="1", **PHONE, kind="answer"))
    assert send(ben, **SAVE).status_code == 302


def test_a_flow_is_made_and_the_country_stored_in_one_release_and_never_asked_again(ben: Client) -> None:
    refused = send(ben, **PHONE, **SAVE)
    assert [problem.text.split("”")[0] for problem in refused.context["problems"]] == [f"“{QUESTION}"[:-1] + "?"]
    before = newest().pk

    assert send(ben, **PHONE, **SAVE, customers_country="germany").status_code == 302

    assert (newest().pk, read_country()) == (before + 1, "DE")
    again = send(ben, **PHONE, code="other", title="Other")
    assert not is_asked(again)
    assert "one of Germany, the country of your customers" in again.content.decode()


@pytest.mark.parametrize(("given", "stored"), [("GB", "GB"), ("Different countries", "ZZ"), ("Austria", "AT")])
def test_names_codes_and_different_countries_are_taken(ben: Client, given: str, stored: str) -> None:
    send(ben, **PHONE, **SAVE, customers_country=given)
    assert read_country() == stored


def test_what_is_no_country_is_refused(ben: Client) -> None:
    shown = send(ben, **PHONE, **SAVE, customers_country="Atlantis")
    assert "No country is called “Atlantis”" in shown.content.decode()
    assert not m.CeConfig.objects.filter(config_key=COUNTRY.key).exists()


def test_who_may_change_no_settings_is_not_asked(somebody: Any) -> None:
    rights = Permission.objects.filter(content_type__app_label="config_admin").exclude(codename__endswith="ceconfig")
    Group.objects.create(name="writers").permissions.set(rights)
    writer = somebody("wanda", "writers")

    assert not is_asked(send(writer, **PHONE))
    assert send(writer, **PHONE, **SAVE).status_code == 302


def test_the_settings_show_it_by_name_and_change_it(ben: Client) -> None:
    send(ben, **PHONE, **SAVE, customers_country="Germany")
    page = reverse("admin:config_admin_ceconfig_effective")
    assert "Germany (DE)" in ben.get(page).content.decode()
    form = ben.get(page, {"edit": COUNTRY.name}).content.decode()
    assert '<option value="DE" selected' in form
    assert ">France</option>" in form

    edit(ben, COUNTRY.name, config_value="FR", reason="we moved")
    assert read_country() == "FR"


@pytest.mark.parametrize(
    ("country", "typed", "stored"),
    [
        ("Germany", "0171 2345678", "+491712345678"),
        ("Germany", "+44 20 7946 0958", "+442079460958"),
        ("France", "06 12 34 56 78", "+33612345678"),
        ("Different countries", "0171 2345678", "01712345678"),
    ],
)
def test_numbers_without_a_country_code_are_those_of_the_country(
    ben: Client, country: str, typed: str, stored: str
) -> None:
    send(ben, **{**FORM, **PHONE, "field-1-ORDER": "1"}, **SAVE, customers_country=country)
    caller = Caller()

    answer = say(caller, "I want to book a table", typed)

    assert answer["context"]["phone"] == stored
    # What was assumed is said.
    assert (stored in get_text(answer).replace(" ", "")) is (not typed.startswith("+") and stored.startswith("+"))
