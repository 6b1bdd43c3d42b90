"""The sidebar shows the places of the admin with their pages, and nothing that somebody may not see."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client, RequestFactory
from django.urls import reverse

from convengine.server.admin_site import layout
from convengine.server.deployment.folders import find_shipped
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
ENTRIES = [entry for section in layout.list_sections() for entry in section.entries]


def sidebar(*names: str, path: str = "/admin/", **values: Any) -> list[dict[str, Any]]:
    request = RequestFactory().get(path)
    request.user = User.objects.create_user("ada", is_staff=True, **values)
    request.user.groups.set(Group.objects.filter(name__in=names))
    return [item for group in layout.sidebar(request) for item in group["items"]]


def places_of(*names: str, **values: Any) -> dict[str, list[str]]:
    return {section["title"]: [page["title"] for page in section["items"]] for section in sidebar(*names, **values)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.model}-{entry.page}")
def test_every_entry_opens_a_page_with_the_scripts_of_all(entry: layout.SidebarLink, client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    opts = apps.get_model(entry.model)._meta

    page = client.get(reverse(f"admin:{opts.app_label}_{opts.model_name}_{entry.page}"))

    assert page.status_code == 200
    assert "convengine/admin" in page.content.decode()


def test_every_page_has_an_entry() -> None:
    listed = {apps.get_model(entry.model) for entry in ENTRIES}

    assert set(admin.site._registry) == listed


def test_an_administrator_sees_everything_where_an_analyst_looks_for_it() -> None:
    assert list(places_of(is_superuser=True)) == [
        *("Home", "Intents", "Rules & settings", "Answers", "Actions & tools", "Try & test", "Releases"),
        *("Conversations", "Reports", "Access", "More"),
    ]


def test_whoever_may_see_nothing_has_no_places() -> None:
    assert places_of() == {}


def test_an_analyst_sees_configuration_and_no_access() -> None:
    places = places_of("analyst")

    # Pages beside lists, each at its position.
    assert places["Intents"] == ["Intents", "Start a flow", "FAQ", "Phrases", "Map"]
    assert places["Rules & settings"] == ["Rules", "All settings"]
    assert places["More"][:4] == ["Forms", "State graph", "Policies", "Changed settings"]
    assert len(places) == 10
    assert "Access" not in places
    assert sum(len(pages) for title, pages in places.items() if title != "More") <= 30


@pytest.mark.parametrize("group", ["qa", "analyst", "config_admin"])
def test_the_record_is_read_by_whoever_works_on_conversations(group: str) -> None:
    places = places_of(group, path="/admin/audit/ceaudit/")

    assert {"Conversations", "Turns", "Feedback"} <= set(places["Conversations"])
    assert {"Audit events", "Used rows", "Model calls", "Waiting turns"} <= set(places["More"])
    assert ("Access" in places) == (group == "config_admin")


@pytest.mark.parametrize(
    ("group", "listed"), [("qa", False), ("analyst", False), ("config_admin", True), ("operator", True)]
)
def test_the_engine_room_is_listed_for_whoever_may_do_more_than_read_there(group: str, listed: bool) -> None:
    assert ("Waiting turns" in places_of(group).get("More", ())) == listed


@pytest.mark.parametrize("chapter", ["analyst", "integrator", "qa"])
def test_no_page_of_a_first_hour_is_among_the_seldom_ones(chapter: str) -> None:
    text = (find_shipped("docs") / f"first_hour_{chapter}.md").read_text()
    named = {name for path in re.findall(r"\*([^*\n]+)\*", text) for name in path.split(" › ")}
    (more,) = (section for section in layout.list_sections() if section.title == "More")

    assert named & {entry.title for entry in more.entries} == set()


def test_operators_see_what_waits_and_the_link_of_the_place_leads_there() -> None:
    section = next(section for section in sidebar("operator") if section["title"] == "More")

    assert [page["title"] for page in section["items"] if page["section"] == "Engine room"] == [
        *("Action runs", "Sent messages", "Webhook deliveries", "Waiting turns"),
        *("Channel messages", "Opted out", "Queued messages", "Stored answers"),
        *("Background jobs", "Runs of jobs"),
    ]
    assert section["link"] == section["items"][0]["link"]


@pytest.mark.parametrize(
    ("path", "section", "entry"),
    [
        ("/admin/", "Home", None),
        ("/admin/config_admin/cerule/", "Rules & settings", "Rules"),
        ("/admin/config_admin/cerule/7/history/", "Rules & settings", "Rules"),
        ("/admin/config_admin/ceprompttemplate/add/", "More", "Prompt templates"),
        ("/admin/config_admin/cerelease/compare/", "More", "Compare releases"),
        ("/admin/config_admin/cemcptool/3/change/", "Actions & tools", "Tools"),
        ("/admin/config_admin/ceintent/map/", "Intents", "Map"),
        ("/admin/ce_sessions/ceturnticket/", "More", "Waiting turns"),
    ],
)
def test_the_place_and_the_page_where_somebody_is_are_marked(path: str, section: str, entry: str | None) -> None:
    places = sidebar(path=path, is_superuser=True)

    assert [shown["title"] for shown in places if shown["active"]] == [section]
    assert [page["title"] for shown in places for page in shown["items"] if page["active"]] == (
        [entry] if entry else []
    )


def test_nothing_to_do_is_said_in_words(client: Client) -> None:
    client.force_login(User.objects.create_user("ada", is_staff=True))

    assert "you have no permissions yet" in client.get("/admin/").content.decode()


def test_the_first_page_tells_the_latest_changes(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get("/admin/").content.decode()

    assert "Latest changes" in page
    assert "There are no changes yet." in page


def test_signing_in_leads_to_the_first_page(client: Client) -> None:
    User.objects.create_superuser("ada", password="a-long-password")

    response = client.post("/admin/login/", {"username": "ada", "password": "a-long-password"})

    assert response["Location"] == "/admin/"


def test_no_page_asks_another_host_for_anything(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get("/admin/").content.decode()

    assert 'src="http' not in page
    assert 'href="http' not in page


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=str), ids=lambda model: model.__name__)
def test_the_first_column_of_a_list_leads_to_the_row(model: Any) -> None:
    """On a narrow screen the theme takes any other first column for the box that selects, and calls it so."""
    shown = admin.site.get_model_admin(model)

    assert not shown.list_display_links or shown.list_display_links[0] == shown.list_display[0]


def test_the_first_link_of_a_page_skips_the_navigation(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get("/admin/").content.decode()

    assert page.index('class="ce-skip" href="#content"') < page.index('id="nav-sidebar-apps"')
    assert 'id="content"' in page


def test_an_empty_list_says_what_it_holds_and_what_to_do_next() -> None:
    client = sign_in_superuser()
    page = client.get("/admin/config_admin/ceintent/").content.decode()

    assert "The goals of users." in page.partition("No intents yet")[2]
    assert "Start a flow" in page.partition("No intents yet")[2]
    assert "through the chat, the API or a channel" in client.get("/admin/ce_sessions/ceconversation/").content.decode()
