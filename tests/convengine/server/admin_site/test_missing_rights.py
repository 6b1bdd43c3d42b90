"""A refusal names the right that is missing, who has it, and whom to ask."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config_admin import models as m
from tests.config_admin.builders import make
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def quinn(db: None) -> Client:
    """A member of quality assurance, in an installation with an administrator."""
    User.objects.create_superuser("ada", first_name="Ada", last_name="Lovelace")
    return sign_in("quinn", "qa")


def read_refusal(client: Client, address: str, **sent: Any) -> str:
    response = client.post(address, sent) if sent else client.get(address)
    assert response.status_code == 403
    return " ".join(str(response.content.decode()).split())


def test_a_refusal_names_right_groups_and_administrators(quinn: Client) -> None:
    page = read_refusal(quinn, "/admin/config_admin/cerule/add/")

    assert "It needs the permission “Change the configuration and settings" in page
    assert "Only analysts and configuration administrators may do this." in page
    assert "You are signed in as quinn. Your groups: Quality assurance." in page
    assert "ask an administrator: Ada Lovelace." in page


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/admin/config_admin/cerelease/1/roll-back/", "Roll back to a release"),
        ("/admin/config_admin/cerelease/1/take-back/", "Change the configuration and settings"),
        ("/admin/config_admin/ceintent/start/", "Change the configuration and settings"),
        ("/admin/config_admin/ceintent/LOAN/rename/", "Change the configuration and settings"),
        ("/admin/audit/ceaudit/simulate/", "Try a conversation"),
        ("/admin/ce_jobs/cejob/close_sessions/run/", "Run a background job now"),
        ("/admin/audit/ceaccesslog/", "See the access log"),
        ("/admin/config_admin/cerule/1/delete/", "Change the configuration and settings"),
    ],
)
def test_pages_with_a_right_of_their_own_name_it(quinn: Client, address: str, title: str) -> None:
    make(m.CeIntent)
    make(m.CeRule, rule_id=1)

    assert f"It needs the permission “{title}" in read_refusal(quinn, address)


def test_an_import_names_its_right(quinn: Client) -> None:
    page = read_refusal(quinn, "/admin/config_admin/cerelease/transfer/", reason="because")

    assert "It needs the permission “Import a configuration”." in page


def test_pages_of_administrators_only_say_so(quinn: Client) -> None:
    assert "Only administrators may do this." in read_refusal(quinn, "/admin/auth/user/")


def test_somebody_without_groups_is_told_so() -> None:
    client = sign_in("ben")
    page = read_refusal(client, "/admin/config_admin/cerule/")

    assert "You are in no group." in page
    assert "If you need it, ask an administrator." in page
