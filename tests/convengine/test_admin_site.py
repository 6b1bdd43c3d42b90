"""The sidebar shows what there is, in groups, and nothing that somebody may not see."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client, RequestFactory

from convengine import admin_site

pytestmark = pytest.mark.django_db
ENTRIES = [entry for _, entries in admin_site.GROUPS for entry in entries]


def groups_of(*names: str, **values: Any) -> dict[str, list[str]]:
    request = RequestFactory().get("/admin/")
    request.user = User.objects.create_user("ada", is_staff=True, **values)
    request.user.groups.set(Group.objects.filter(name__in=names))
    return {group["title"]: [item["title"] for item in group["items"]] for group in admin_site.sidebar(request)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.model)
def test_every_entry_has_a_page(entry: admin_site.Entry) -> None:
    assert admin.site.is_registered(apps.get_model(entry.model))


def test_every_page_has_an_entry() -> None:
    listed = {apps.get_model(entry.model) for entry in ENTRIES}

    assert set(admin.site._registry) == listed


def test_an_administrator_sees_everything() -> None:
    assert list(groups_of(is_superuser=True)) == [title for title, _ in admin_site.GROUPS]


def test_groups_without_anything_to_see_are_left_out() -> None:
    assert groups_of() == {}


def test_an_analyst_sees_configuration_and_no_access() -> None:
    groups = groups_of("analyst")

    assert "Rules" in groups["Conversation"]
    assert "Access" not in groups


def test_quality_people_read_the_record() -> None:
    groups = groups_of("qa")

    assert {"Conversations", "Turns", "Audit events", "Deciding rows", "Model calls"} <= set(groups["Record"])
    assert "Access" not in groups


def test_operators_see_what_waits() -> None:
    assert groups_of("operator")["Record"] == ["Action runs", "Sent messages", "Waiting turns", "Stored answers"]


def test_nothing_to_do_is_said_in_words(client: Client) -> None:
    client.force_login(User.objects.create_user("ada", is_staff=True))

    assert "no group gives you anything to do here" in client.get("/admin/").content.decode()


def test_the_first_page_tells_the_latest_changes(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get("/admin/").content.decode()

    assert "Latest changes" in page
    assert "Installation or upgrade" in page


def test_signing_in_leads_to_the_first_page(client: Client) -> None:
    User.objects.create_superuser("ada", password="a-long-password")

    response = client.post("/admin/login/", {"username": "ada", "password": "a-long-password"})

    assert response["Location"] == "/admin/"


def test_no_page_asks_another_host_for_anything(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get("/admin/").content.decode()

    assert 'src="http' not in page
    assert 'href="http' not in page
