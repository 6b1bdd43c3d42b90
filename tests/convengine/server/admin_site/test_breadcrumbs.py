"""Above every page stands the way to it: Home, its place, what lies between."""

import re
from html import unescape

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils.text import capfirst

from convengine.server.admin_site import layout
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.records import store_row
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
ENTRIES = [(section, entry) for section in layout.list_sections() for entry in section.entries]


@pytest.fixture
def client() -> Client:
    return sign_in_superuser()


def read_crumbs(client: Client, address: str) -> list[tuple[str, str]]:
    """The crumbs of a page, each with where it leads; blank for nowhere."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    line = answer.content.decode().partition('aria-label="Breadcrumbs"')[2].partition("</nav>")[0]
    crumbs = re.findall(r'<li><(?:a href="([^"]*)"|\w+)[^>]*>([^<]*)</', line)
    assert line.count("<li>") == len(crumbs)
    return [(unescape(title), url) for url, title in crumbs]


def titles(client: Client, address: str) -> list[str]:
    return [title for title, _ in read_crumbs(client, address)]


@pytest.mark.parametrize(("section", "entry"), ENTRIES, ids=lambda entry: entry.title)
def test_every_page_of_the_sidebar_leads_home_by_its_place(
    client: Client, section: layout.SidebarSection, entry: layout.SidebarLink
) -> None:
    opts = apps.get_model(entry.model)._meta
    crumbs = read_crumbs(client, reverse(f"admin:{opts.app_label}_{opts.model_name}_{entry.page}"))

    assert crumbs[0] == ("Home", "/admin/")
    assert [title for title, _ in crumbs[1:]] == list(dict.fromkeys([section.title, entry.title]))
    assert all(url for _, url in crumbs[:-1])
    assert not crumbs[-1][1]


def test_home_leads_nowhere(client: Client) -> None:
    assert read_crumbs(client, "/admin/") == [("Home", "")]


def test_a_row_and_what_is_done_with_it_stand_below_its_list(client: Client) -> None:
    group = Group.objects.get(name="qa")
    changed, deleted = (reverse(f"admin:auth_group_{page}", args=[group.pk]) for page in ("change", "delete"))

    assert titles(client, changed) == ["Home", "Access", "Groups", "qa"]
    assert read_crumbs(client, deleted)[-2:] == [("qa", changed), ("Delete", "")]
    assert titles(client, reverse("admin:auth_group_add"))[-1] == "Add group"


@pytest.mark.parametrize("model", ["auth_group", "config_admin_cerule", "audit_ceaudit"])
def test_the_title_of_a_list_is_the_name_of_its_rows(client: Client, model: str) -> None:
    name = capfirst(str(apps.get_model(*model.rsplit("_", 1))._meta.verbose_name_plural))
    page = client.get(reverse(f"admin:{model}_changelist")).content.decode()
    assert re.search(r"<title>\s*([^<]*?)\s*</title>", page)[1] == f"{name} | ConvEngine"  # type: ignore[index]


def test_a_page_has_one_main_heading_which_names_it(client: Client) -> None:
    for address in ("/admin/", reverse("admin:auth_group_changelist"), reverse("admin:auth_group_add")):
        headings = re.findall(r"<h1[^>]*>([^<]*)", client.get(address).content.decode())
        assert headings == titles(client, address)[-1:]


def test_a_chapter_stands_in_the_manual(client: Client) -> None:
    assert titles(client, reverse("manual")) == ["Home", "Manual"]
    assert read_crumbs(client, reverse("manual_chapter", args=["first_hour_analyst"]))[1:] == [
        ("Manual", "/docs/"),
        ("The first hour of an analyst", ""),
    ]


def test_a_conversation_is_called_by_its_participant_or_by_the_beginning_of_its_id(client: Client) -> None:
    row = CeConversation.objects.create(remote_jid="+4915112345")
    page = reverse("admin:ce_sessions_ceconversation_change", args=[row.pk])
    assert titles(client, page) == ["Home", "Conversations", "+4915112345", "Session"]

    CeConversation.objects.update(remote_jid=str(row.pk))
    assert titles(client, page)[2] == str(row.pk)[:8]


def test_the_record_of_a_turn_stands_with_its_turn(client: Client) -> None:
    row = CeConversation.objects.create(remote_jid="anna", last_turn_no=1)
    turn = store_row(CeConversationHistory, conversation=row, turn_no=1)
    address = reverse("admin:ce_sessions_ceconversationhistory_change", args=[turn.pk])

    assert titles(client, address) == ["Home", "Conversations", "anna", "Turn 1", "Record"]


def test_crumbs_lead_only_where_somebody_may_go() -> None:
    row = CeConversation.objects.create(remote_jid="anna")
    user = User.objects.create_user("otto", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_ceconversation"))
    client = Client()
    client.force_login(user)
    address = reverse("admin:ce_sessions_ceconversation_change", args=[row.pk])
    links = [url for _, url in read_crumbs(client, address) if url]

    assert links
    assert {client.get(url).status_code for url in links} == {200}
