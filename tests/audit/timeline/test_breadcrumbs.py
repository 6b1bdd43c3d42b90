"""Each page of the record says where it stands: home, conversations, the conversation, the turn."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from audit import addresses
from audit.models import CeAudit
from config_admin.models import CeRule
from convengine.server.sessions.models import CeConversation
from tests.api import Caller
from tests.convengine.server.admin_site.test_breadcrumbs import read_crumbs
from tests.sign_in import sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
CONVERSATION: Sequence[str] = ("Home", "Conversations", "anna")
TURN = (*CONVERSATION, "Turn 2")
#: Every page of one conversation or turn, by the last part of its name, with the way to it. Exports are files.
WAYS: Mapping[str, Sequence[str]] = {
    "timeline": CONVERSATION,
    "turn": TURN,
    "row": (*TURN, "Rule {rule} as it was"),
    "between": (*TURN, "Changed since turn 1"),
    "replay": (*TURN, "Replay"),
    "replays": (*CONVERSATION, "Replay"),
    "scenario": (*CONVERSATION, "Save as a scenario file"),
    "trust": (*CONVERSATION, "Integrity"),
    "customer": (*CONVERSATION, "Copy for the customer"),
    "erase": (*CONVERSATION, "Erase"),
    "print": (*CONVERSATION, "Printable page"),
}
FILES = {"export", "evidence"}
QUERIES = {"row": "?table=ce_rule&row={rule}", "between": "?since=1", "scenario": "?first=x"}


@pytest.fixture
def boss(db: None) -> Client:
    return sign_in_superuser("boss")


@pytest.fixture
def caller(db: None) -> Caller:
    """A conversation of two turns, whose participant has a name."""
    create_help_desk()
    found = Caller()
    for text in ("hours please", "and fees"):
        found.say(text)
    CeConversation.objects.update(remote_jid="anna")
    return found


def of_a_conversation() -> dict[str, Any]:
    """The record's pages of a conversation or a turn: by the last part of the name, the names in the address."""
    routes = admin.site._registry[CeAudit].get_urls()
    found = {str(one.name).rpartition("_")[2]: set(one.pattern.converters) for one in routes}
    return {name: names for name, names in found.items() if "conversation_id" in names}


def test_every_page_of_a_conversation_says_where_it_stands(boss: Client, caller: Caller) -> None:
    rule = CeRule.objects.get().pk
    given = {"conversation_id": caller.conversation_id, "turn_no": 2}
    found = {}
    for page, names in of_a_conversation().items():
        if page not in FILES:
            address = reverse(f"admin:audit_ceaudit_{page}", kwargs={name: given[name] for name in names})
            found[page] = read_crumbs(boss, address + QUERIES.get(page, "").format(rule=rule))

    titles = {page: [title for title, _ in crumbs] for page, crumbs in found.items()}
    assert titles == {page: [title.format(rule=rule) for title in wanted] for page, wanted in WAYS.items()}
    for crumbs in found.values():
        assert [boss.get(url).status_code for _, url in crumbs[:-1]] == [200] * len(crumbs[:-1])
        assert not crumbs[-1][1]


def test_each_has_one_main_heading(boss: Client, caller: Caller) -> None:
    for page in ("timeline", "trust", "erase", "print", "replays"):
        source = boss.get(reverse(f"admin:audit_ceaudit_{page}", args=[caller.conversation_id])).content.decode()
        assert source.count("<h1") == 1, page


def test_pages_of_no_single_conversation_stand_among_the_conversations(boss: Client, caller: Caller) -> None:
    other = Caller()
    other.say("hours")
    one, two = f"{caller.conversation_id}.1", f"{caller.conversation_id}.2"

    def titles(address: str) -> list[str]:
        return [title for title, _ in read_crumbs(boss, address)]

    assert titles(reverse("admin:audit_ceaudit_find")) == ["Home", "Conversations", "Find"]
    assert titles(reverse("admin:audit_ceaudit_simulate")) == ["Home", "Try & test", "Try a conversation"]
    assert titles(addresses.compare_url(one, two)) == [*CONVERSATION, "Compare"]
    assert titles(addresses.compare_url(one, f"{other.conversation_id}.1")) == ["Home", "Conversations", "Compare"]
