"""The page of the inbox: what a group may mean, teaching it in few clicks, and deciding about it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.feedback.store import FeedbackInput, store_feedback
from audit.inbox.job import update_inbox
from audit.models import CeAccessLog, CeInboxGroup
from audit.models.inbox import ORDER_OF_NOT_UNDERSTOOD
from audit.reports.week import summarise_week
from config_admin.models import CeAnswerDocument, CeIntentClassifier, CeOutputSchema
from config_admin.releases.change_set import change_set
from convengine.engine.steps.intents.suggestions import NOTHING_SUGGESTED
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.api import Caller
from tests.audit.inbox.test_collect import make_form
from tests.sign_in import sign_in
from tests.worlds import create_delivery_form, create_help_desk, create_pizza_form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_inbox")


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
    return sign_in("ann", "analyst", "qa")


def test_a_group_leads_to_the_page_that_teaches_it(analyst: Client, address: str) -> None:
    fill("membership of the library", "membership of the library", "parking")
    first = analyst.get(address).context["lines"][0]
    assert (first.group.messages, first.title) == (2, "membership of the library")
    suggestion, other, flow = first.actions
    assert (suggestion.label, other.label, flow.label) == ("FEES", "Another intent", "New flow “Membership library”")
    assert "is near to “how much is the monthly membership”" in suggestion.reason
    assert "membership" not in suggestion.url
    assert analyst.get(suggestion.url).context["effect"].lesson.phrases == ("membership of the library",)


def test_without_a_suggestion_the_page_says_why_and_a_new_flow_takes_the_messages_along(
    analyst: Client, address: str
) -> None:
    fill("parking spaces", "parking spaces")
    (line,) = analyst.get(address).context["lines"]
    assert line.hint == NOTHING_SUGGESTED
    flow, choose = line.actions
    assert (flow.label, choose.label) == ("New flow “Parking spaces”", "Choose an intent")
    assert NOTHING_SUGGESTED.encode() in analyst.get(choose.url).content
    form = analyst.get(flow.url).context["form"]
    assert (form["title"].value(), form["phrases"].value()) == ("Parking spaces", "parking spaces")
    writer = sign_in("abe")
    User.objects.get(username="abe").user_permissions.set(
        Permission.objects.filter(codename__startswith="add_ce", content_type__app_label="config_admin")
    )
    assert writer.get(flow.url).context["form"]["phrases"].value() in (None, "")


def test_how_near_a_group_is_to_each_intent_is_told_when_somebody_looks(analyst: Client, address: str) -> None:
    fill("membership of the library")
    (group,) = CeInboxGroup.objects.all()

    part = analyst.get(address, {"part": "words", "group": group.pk})

    (account,) = part.context["phrase_accounts"]
    assert account.best.name == "Fees"
    assert account.words[0].word == "membership"
    assert f"inbox group {group.pk}" in str(CeAccessLog.objects.order_by("-pk").values()[0])
    assert b"erased or masked" in analyst.get(address, {"part": "words", "group": "x"}).content
    assert sign_in("eve").get(address, {"part": "words", "group": group.pk}).status_code == 403


def test_the_order_is_that_of_home_and_is_said(analyst: Client, address: str) -> None:
    fill("parking spaces", "bicycle stands", "bicycle stands", "coffee machine")
    CeInboxGroup.objects.filter(messages=2).update(this_week=0)
    inbox = analyst.get(address)
    assert [line.title for line in inbox.context["lines"]][-1] == "bicycle stands"
    assert ORDER_OF_NOT_UNDERSTOOD.encode() in inbox.content
    week = [group.text for group in summarise_week().largest_groups]
    assert week == [line.title for line in inbox.context["lines"]]


def test_a_message_that_came_outside_of_a_flow_too_is_not_among_the_answers_of_flows(
    analyst: Client, address: str
) -> None:
    fill("parking spaces", "parking spaces", "coffee machine", "bicycle stands", "bicycle stands", "bicycle stands")
    turns = CeConversationHistory.objects.order_by("-pk")
    turns.filter(user_input="bicycle stands").update(intent_code="HOURS")
    turns.filter(pk=turns.filter(user_input="parking spaces")[0].pk).update(intent_code="HOURS")
    titles = [line.title for line in analyst.get(address).context["lines"]]
    assert titles == ["parking spaces", "coffee machine", "bicycle stands"]


def test_each_kind_has_a_tab_with_its_counts_and_what_to_do(analyst: Client, address: str) -> None:
    fill("hours and fees", "parking", "parking")
    tabs = {tab.kind: tab for tab in analyst.get(address).context["tabs"]}
    assert tabs.keys() == set(CeInboxGroup.Kind)
    assert tabs["NOT_UNDERSTOOD"][2:] == (1, 2, 2, 0)
    page = analyst.get(address, {"kind": "TWO_INTENTS"})
    assert {action.label for action in page.context["lines"][0].actions} >= {"HOURS", "FEES"}


def test_a_refused_value_leads_to_its_field(analyst: Client, address: str) -> None:
    fill()
    make_form()
    key = str(CeConversation().conversation_id)
    for text in ("fees", "size: medium"):
        take_turn(TurnRequest(key, text))
    list(update_inbox())
    line = analyst.get(address, {"kind": "REFUSED_VALUE"}).context["lines"][0]
    assert (line.title, line.examples) == ("Size of Fees: the field does not allow it", ["medium"])
    assert analyst.get(line.actions[0].url).status_code == 200


@pytest.mark.parametrize(
    ("create_form", "messages", "advice"),
    [
        (create_pizza_form, ["a party", "2030-03-04", "size: tartan"], "Add a choice or a synonym to Size"),
        (create_pizza_form, ["a party", "2030-03-04", "guests: 13"], "Change the limits of Guests"),
        (
            create_delivery_form,
            ["deliver it", "ann@example.com", "12 Mill Lane", "on 30 February 2030"],
            "Show in the question of day how an answer looks",
        ),
    ],
)
def test_what_to_do_about_a_refused_value_fits_the_kind_of_its_field(
    analyst: Client, address: str, create_form: Callable[[], None], messages: list[str], advice: str
) -> None:
    create_form()
    caller = Caller()
    for text in messages:
        caller.say(text)
    list(update_inbox())

    lines = analyst.get(address, {"kind": "REFUSED_VALUE"}).context["lines"]
    assert [action.label for line in lines for action in line.actions] == [advice]


def test_a_form_given_up_at_a_short_text_offers_to_make_it_a_long_one(analyst: Client, address: str) -> None:
    create_delivery_form()
    form = CeOutputSchema.objects.get()
    form.json_schema["properties"]["address"]["x-long"] = False
    with change_set(reason="short"):
        form.save()
    caller = Caller()
    for text in ("deliver it", "ann@example.com", *["?"] * 5):
        caller.say(text)
    list(update_inbox())

    (line,) = analyst.get(address, {"kind": "FORM_GIVEN_UP"}).context["lines"]
    assert [action.label for action in line.actions] == ["Make address a long text", "Look at the question of address"]
    opened = analyst.get(line.actions[0].url).content.decode()
    assert "is filled in as a long text" in opened


def test_a_form_given_up_has_the_name_of_its_intent_also_when_it_was_deleted(analyst: Client, address: str) -> None:
    fill()
    make_form()
    key = str(CeConversation().conversation_id)
    for text in ("fees", *["medium"] * 6):
        take_turn(TurnRequest(key, text))
    list(update_inbox())
    assert analyst.get(address, {"kind": "FORM_GIVEN_UP"}).context["lines"][0].title == "Fees: given up at Size"
    CeOutputSchema.objects.all().delete()
    line = analyst.get(address, {"kind": "FORM_GIVEN_UP"}).context["lines"][0]
    assert (line.title, line.actions) == ("A deleted form: given up at size", [])


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
    assert CeAccessLog.objects.order_by("-pk").values_list("search", flat=True)[0] == "inbox mine"
    assert decide("assign").assigned_to is None
    dismissed = decide("dismiss")
    assert (dismissed.status, dismissed.decided_by) == ("DISMISSED", "ann")
    assert not analyst.get(address).context["lines"]
    assert decide("reopen").status == "OPEN"
    assert decide("something").note == "for Tom"


def test_readers_may_look_and_not_decide(address: str) -> None:
    fill("parking")
    reader = sign_in("quinn", "qa")
    assert b'value="dismiss"' not in reader.get(address).content
    assert CeAccessLog.objects.filter(kind="SEARCH", reader="quinn").exists()
    assert reader.post(address, {"group": "1", "action": "dismiss"}).status_code == 403
    assert sign_in("nobody").get(address).status_code == 403


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


def test_a_page_of_many_groups_says_where_it_is(analyst: Client, address: str) -> None:
    now = timezone.now()
    CeInboxGroup.objects.bulk_create(
        CeInboxGroup(fingerprint=str(number), leader=0, messages=2000, wordings=1, first_at=now, last_at=now)
        for number in range(1030)
    )
    assert analyst.get(address).context["page"].end_index() == 8
    last = analyst.get(address, {"page": "129"})
    assert "Groups 1,025 to 1,030 of 1,030." in last.content.decode()
    assert b"2,000 messages" in last.content


def test_what_users_chose_after_the_question_is_proposed_first(analyst: Client, address: str) -> None:
    create_help_desk()
    for choice in ("fees", "fees", "hours", "blah"):
        conversation = str(CeConversation().conversation_id)
        for text in ("hours and fees", choice):
            take_turn(TurnRequest(conversation, text))
    list(update_inbox())
    line = analyst.get(f"{address}?kind=TWO_INTENTS").context["lines"][0]
    first, *_ = line.actions
    assert (first.label, first.reason) == ("FEES", "users got it with their next message, 2 of 4 times")


def test_a_section_that_answers_a_message_is_offered(analyst: Client, address: str) -> None:
    create_help_desk()
    text = "# Pets\n\n## Dogs\n\nDogs stay on a lead.\n\n## Cats\n\nCats sleep at home."
    CeAnswerDocument.objects.create(title="Pets", content=text)
    conversation = CeConversation()
    take_turn(TurnRequest(str(conversation.conversation_id), "may my dog run free?"))
    rejected = FeedbackInput("THUMBS_DOWN", metadata={"place": 0})
    store_feedback(conversation.pk, None, "participant", rejected)
    list(update_inbox())
    [line] = analyst.get(address).context["lines"]
    assert line.title == "may my dog run free?"
    section = next(action for action in line.actions if "Dogs" in action.label)
    page = analyst.get(section.url)
    assert page.context["taught"]["count"] == 1
    sent = {"asked-0": "may my dog run free?", "reason": "asked often"}
    assert analyst.post(section.url, sent).status_code == 302
    assert "Added to the questions of" in CeInboxGroup.objects.get().decision
    list(update_inbox())
    assert CeInboxGroup.objects.get().status == "UNDERSTOOD"
