"""A refused or missing page says what is wrong and leads back home."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from tests.sign_in import sign_in, sign_in_superuser

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return sign_in("ben")


def test_a_refused_page_says_so(client: Client) -> None:
    answer = client.get("/admin/config_admin/cerule/")
    page = answer.content.decode()

    assert answer.status_code == 403
    assert "You do not have permission for this page." in page
    assert "signed in as ben" in page
    assert 'href="/admin/"' in page


def test_a_missing_page_says_so_with_the_reason_but_without_the_patterns(client: Client) -> None:
    for address in ("/admin/nothing/", "/nothing"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "Page not found" in answer.content.decode()
        assert "tried" not in answer.content.decode()
    client.force_login(User.objects.create_superuser("ada"))
    answer = client.get("/admin/config_admin/ceintent/NOPE/workspace/")
    assert (answer.status_code, "The intent NOPE does not exist." in answer.content.decode()) == (404, True)


def test_a_stranger_sees_a_plain_page() -> None:
    answer = Client().get("/nothing")

    assert (answer.status_code, "Page not found" in answer.content.decode()) == (404, True)


def test_browsers_that_ask_for_the_icon_by_its_usual_address_get_it() -> None:
    assert re.fullmatch(r".*/icon(\.\w+)?\.svg", Client().get("/favicon.ico")["Location"])


def test_contacts_for_security_reports_are_served_if_the_deployment_names_them(settings: Any) -> None:
    address = "/.well-known/security.txt"
    missing = Client().get(address)
    assert (missing.status_code, "names no contact for security reports" in missing.content.decode()) == (404, True)

    contacts = ["mailto:security@example.com", "https://example.com/report"]
    settings.CONVENGINE = {**settings.CONVENGINE, "SECURITY_CONTACTS": contacts}
    answer = Client().get(address)
    first, second, expires = answer.content.decode().splitlines()
    assert (first, second) == tuple(f"Contact: {uri}" for uri in contacts)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    left = datetime.fromisoformat(expires.removeprefix("Expires: ")) - timezone.now()
    assert timedelta(days=88) < left < timedelta(days=365)


def test_an_expired_form_says_what_to_do() -> None:
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "ben"})

    assert (answer.status_code, "This page has expired" in answer.content.decode()) == (403, True)


def test_the_root_leads_users_of_the_admin_home(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/admin/"


def test_the_root_says_to_strangers_what_this_is_and_where_to_sign_in() -> None:
    answer = Client().get("/")
    page = answer.content.decode()

    assert answer.status_code == 200
    assert "ConvEngine holds conversations that analysts configure" in page
    for address in ("/admin/", "/api/docs/"):
        assert f'href="{address}"' in page


def test_the_root_says_to_users_without_access_whom_to_ask() -> None:
    client = Client()
    client.force_login(User.objects.create_user("ida"))

    assert "You are signed in as ida, who may not use the admin." in client.get("/").content.decode()


@pytest.mark.parametrize(
    ("address", "links"),
    [
        ("/admin/config_admin/cerelease/999/roll-back/", ["/admin/config_admin/cerelease/", "/docs/"]),
        ("/docs/nothing/", ["/docs/"]),
        ("/api/nothing/", ["/api/docs/"]),
        ("/admin/audit/ceaudit/00000000-0000-0000-0000-000000000000/timeline/", ["/docs/"]),
    ],
)
def test_a_missing_page_leads_to_the_nearest_one(address: str, links: list[str]) -> None:
    client = sign_in_superuser()
    answer = client.get(address)

    assert answer.status_code == 404
    for link in ("/admin/", *links):
        assert f'href="{link}"' in answer.content.decode(), link


def test_a_change_without_a_reason_is_answered_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: HttpRequest, text: str) -> None:
        raise BadRequest("Enter a reason for this change.")

    monkeypatch.setattr("config_admin.workplace.finder._search_all", refuse)
    client = sign_in_superuser()
    answer = client.get("/admin/find/")

    assert answer.status_code == 400
    assert "Enter a reason for this change." in answer.content.decode()
    assert "Nothing was changed." in answer.content.decode()


def test_a_broken_page_has_a_number_that_the_log_has_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config_admin.workplace.finder._search_all", lambda request, text: 1 / 0)
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("ada"))
    with structlog.testing.capture_logs() as logs:
        answer = client.get("/admin/find/")
    page = answer.content.decode()

    assert (answer.status_code, "The server has a problem" in page) == (500, True)
    (number,) = re.findall(r"this number: ([0-9a-f-]{36})", page)
    assert number in [line.get("incident_id") for line in logs]
    assert "ZeroDivisionError" not in page
