"""The page of the inbox: what a group may mean, teaching it in few clicks, and deciding about it."""

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.feedback.store import FeedbackInput, store_feedback
from audit.inbox.job import update_inbox
from audit.models import CeAccessLog, CeInboxGroup
from config_admin.models import CeIntentClassifier
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.audit.inbox.test_collect import make_form
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_inbox")


def member(name: str, *groups: str) -> Client:
    user = User.objects.create(username=name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    client = Client()
    client.force_login(user)
    return client


def fill(*texts: str) -> None:
    create_help_desk()
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="how much is the monthly membership"
    )
    for text in texts:
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())


@pytest.fixture
def analyst() -> Client:
    return member("ann", "analyst", "qa")


def test_a_group_leads_to_the_page_that_teaches_it(analyst: Client, address: str) -> None:
    fill("membership of the library", "membership of the library", "parking")
    first = analyst.get(address).context["lines"][0]
    assert (first.group.messages, first.title) == (2, "membership of the library")
    suggestion, other, flow = first.actions
    assert (suggestion.label, other.label, flow.label) == ("FEES", "Another intent", "New flow")
    assert "shares “membership”" in suggestion.reason
    assert "membership" not in suggestion.url
    assert analyst.get(suggestion.url).context["trial"].lesson.phrases == ("membership of the library",)


def test_each_kind_has_a_tab_with_its_counts_and_what_to_do(analyst: Client, address: str) -> None:
    fill("hours and fees", "parking", "parking")
    tabs = {tab.kind: tab for tab in analyst.get(address).context["tabs"]}
    assert len(tabs) == 6
    assert tabs["NOT_UNDERSTOOD"][2:] == (1, 2, 2, 0)
    page = analyst.get(address, {"kind": "TWO_INTENTS"})
    assert {action.label for action in page.context["lines"][0].actions} >= {"HOURS", "FEES"}


def test_a_refused_value_leads_to_its_field(analyst: Client, address: str) -> None:
    fill()
    make_form()
    key = str(CeConversation().conversation_id)
    for text in ("fees", "medium"):
        take_turn(TurnRequest(key, text))
    list(update_inbox())
    line = analyst.get(address, {"kind": "REFUSED_VALUE"}).context["lines"][0]
    assert (line.title, line.examples) == ("Size of FEES: it is none of the options", ["medium"])
    assert analyst.get(line.actions[0].url).status_code == 200


def test_feedback_shows_its_comments_and_the_answer(analyst: Client, address: str) -> None:
    fill()
    conversation = CeConversation()
    take_turn(TurnRequest(str(conversation.conversation_id), "hours"))
    store_feedback(conversation.pk, None, "participant", FeedbackInput("THUMBS_DOWN", comment="It is closed!"))
    list(update_inbox())
    line = analyst.get(address, {"kind": "NEGATIVE"}).context["lines"][0]
    assert (line.comments, line.examples) == (["It is closed!"], ["hours"])
    assert analyst.get(line.actions[0].url).status_code == 200


def test_a_group_that_came_back_says_who_had_decided(analyst: Client, address: str) -> None:
    fill("parking")
    group = CeInboxGroup.objects.get()
    analyst.post(address, {"group": str(group.pk), "action": "dismiss"})
    take_turn(TurnRequest(str(CeConversation().conversation_id), "parking"))
    list(update_inbox())
    content = analyst.get(address).content.decode()
    assert "Came back after it was decided. Dismissed by ann on" in content


def test_a_group_is_dismissed_reopened_assigned_and_noted(analyst: Client, address: str) -> None:
    fill("parking")
    group = CeInboxGroup.objects.get()

    def decide(action: str, **values: str) -> CeInboxGroup:
        assert analyst.post(address, {"group": str(group.pk), "action": action, **values}).status_code == 302
        return CeInboxGroup.objects.get()

    assert decide("note", note="for Tom").note == "for Tom"
    assert str(decide("assign").assigned_to) == "ann"
    assert len(analyst.get(address, {"mine": "1"}).context["lines"]) == 1
    assert decide("assign").assigned_to is None
    dismissed = decide("dismiss")
    assert (dismissed.status, dismissed.decided_by) == ("DISMISSED", "ann")
    assert not analyst.get(address).context["lines"]
    assert decide("reopen").status == "OPEN"
    assert decide("something").note == "for Tom"


def test_readers_may_look_and_not_decide(address: str) -> None:
    fill("parking")
    reader = member("quinn", "qa")
    assert b'value="dismiss"' not in reader.get(address).content
    assert CeAccessLog.objects.filter(kind="SEARCH", reader="quinn").exists()
    assert reader.post(address, {"group": "1", "action": "dismiss"}).status_code == 403
    assert member("nobody").get(address).status_code == 403


def test_a_group_that_does_not_exist_is_said(analyst: Client, address: str) -> None:
    for group in ("0", "x", "99999999999999999999"):
        answer = analyst.post(address, {"group": group, "action": "dismiss"}, follow=True)
        assert b"The group no longer exists." in answer.content


def test_the_number_of_queries_is_fixed(analyst: Client, address: str) -> None:
    fill("parking")
    analyst.get(address)
    with CaptureQueriesContext(connection) as one:
        analyst.get(address)
    for text in ("bicycle stands", "wifi password", "lost umbrella", "coffee machine"):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())
    with CaptureQueriesContext(connection) as five:
        assert len(analyst.get(address).context["lines"]) == 5
    assert len(five) == len(one)
