"""Keys are made, shown once, and revoked."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from rest_framework_api_key.models import APIKey

from convengine.server.api.models import CeApiKey
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
LIST, ADD = "admin:ce_api_ceapikey_changelist", "admin:ce_api_ceapikey_add"


@pytest.fixture
def keeper() -> Client:
    return sign_in_superuser()


def make(keeper: Client, **values: Any) -> Any:
    data = {"name": "shop", "workspace_id": "acme", "scopes": ["turns", "audit"]} | values
    return keeper.post(reverse(ADD), data)


def test_the_secret_is_shown_once_and_opens_the_door(keeper: Client) -> None:
    page = make(keeper)
    key = CeApiKey.objects.get()

    assert key.is_valid(page.context["secret"])
    assert page.context["secret"] in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert (key.workspace_id, key.scopes) == ("acme", ["turns", "audit"])
    for url in (reverse(LIST), reverse("admin:ce_api_ceapikey_change", args=[key.pk])):
        assert page.context["secret"] not in keeper.get(url).content.decode()


def test_a_new_key_may_everything_but_configuration_unless_somebody_says_otherwise(keeper: Client) -> None:
    form = keeper.get(reverse(ADD)).context["adminform"].form

    assert form["scopes"].value() == ["turns", "sessions", "audit"]


def test_a_key_without_scopes_is_refused_in_words(keeper: Client) -> None:
    page = make(keeper, scopes=[])

    assert "Choose at least one scope. A key without a scope has no access." in page.content.decode()
    assert not CeApiKey.objects.exists()


def test_changing_a_key_leaves_its_secret(keeper: Client) -> None:
    secret = make(keeper).context["secret"]
    key = CeApiKey.objects.get()

    keeper.post(
        reverse("admin:ce_api_ceapikey_change", args=[key.pk]),
        {"name": "shop two", "workspace_id": "acme", "scopes": ["turns"]},
    )

    key.refresh_from_db()
    assert (key.name, key.scopes) == ("shop two", ["turns"])
    assert key.is_valid(secret)


def test_a_revoked_key_opens_nothing(keeper: Client) -> None:
    secret = make(keeper).context["secret"]
    key = CeApiKey.objects.get()

    keeper.post(reverse(LIST), {"action": "revoke_selected", "_selected_action": [key.pk]})

    key.refresh_from_db()
    assert key.revoked
    assert not CeApiKey.objects.is_valid(secret)
    assert "revoked" in keeper.get(reverse(LIST)).content.decode()


def test_the_library_s_own_keys_are_not_on_offer() -> None:
    assert not admin.site.is_registered(APIKey)
