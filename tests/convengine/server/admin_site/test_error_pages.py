"""A refused or missing page says what is wrong and leads back home."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("ben", is_staff=True))
    return client


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


def test_an_expired_form_says_what_to_do() -> None:
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "ben"})

    assert (answer.status_code, "This page has expired" in answer.content.decode()) == (403, True)


def test_the_root_leads_to_the_admin(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/admin/"
