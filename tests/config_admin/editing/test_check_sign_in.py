"""Whether the user of an open page is still signed in."""

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from tests.config_admin.admin.pages import address

pytestmark = pytest.mark.django_db


def test_the_token_of_the_answer_opens_a_form(ben: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ben.cookies
    assert strict.get(reverse("config_admin_signed_in")).status_code == 204
    token = strict.cookies["csrftoken"].value
    url = address(m.CeIntent, "add")

    assert strict.post(url, {"csrfmiddlewaretoken": "old"}).status_code == 403
    assert strict.post(url, {"csrfmiddlewaretoken": token}).status_code == 200


def test_a_visitor_gets_the_login_page(client: Client) -> None:
    assert client.get(reverse("config_admin_signed_in")).status_code == 302
