"""The page of a draft names the open conversations that it would strand, and stores where they go on."""

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> m.CeDraft:
    create_help_desk()
    draft = m.CeDraft.objects.create(title="Without fees")
    for _ in range(3):
        take_turn(TurnRequest(str(uuid.uuid4()), "fees"))
    with open_draft(draft.pk, None, writing=True), change_set():
        for model in (m.CeIntentClassifier, m.CeResponse, m.CeIntent):
            model.objects.filter(intent_code="FEES").delete()
    return draft


def url(page: str, draft: m.CeDraft) -> str:
    return reverse(f"admin:config_admin_cedraft_{page}", args=[draft.pk])


def move(client: Client, draft: m.CeDraft, intent: str, state: str = "IDLE") -> str:
    sent = {"from_intent": "FEES", "from_state": "IDLE", "to_intent": intent, "to_state": state}
    return client.post(url("move", draft), sent, follow=True).content.decode()


def test_the_page_counts_them_and_publishing_moves_them(ada: Client, draft: m.CeDraft) -> None:
    assert "leaves without an answer: 3" in ada.get(url("change", draft)).content.decode()
    assert "They keep their release." in ada.get(url("publish", draft)).content.decode()
    assert "Stored" in move(ada, draft, "HOURS")
    page: Any = ada.get(url("publish", draft))
    assert "They go on at intent HOURS, state IDLE." in page.content.decode()

    live = dict(page.context["question"].inputs)["live"]
    ada.post(url("publish", draft), {"live": live, "reason": "no fees any more"})
    conversation_id = str(CeConversation.objects.filter(intent_code="FEES").values_list("pk", flat=True)[0])
    answer: Any = take_turn(TurnRequest(conversation_id, "what?"))
    assert answer.payload.value == "Nine to five."


def test_a_target_without_an_answer_is_refused_and_one_can_be_dropped(ada: Client, draft: m.CeDraft) -> None:
    assert "has no answer in the draft" in move(ada, draft, "HOURS", "NOWHERE")
    assert not draft.moves.exists()
    move(ada, draft, "HOURS")
    move(ada, draft, "")
    assert not draft.moves.exists()


def test_a_draft_that_strands_nobody_says_nothing(ada: Client, draft: m.CeDraft) -> None:
    other = m.CeDraft.objects.create(title="Other")
    with open_draft(other.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS").update(priority=7)
    assert "leaves without an answer" not in ada.get(url("change", other)).content.decode()


def test_no_target_is_asked_for_where_the_draft_still_answers(ada: Client, draft: m.CeDraft) -> None:
    """Nothing leads to the state any more, but its conversations get answers there."""
    with change_set():
        m.CeResponse.objects.filter(intent_code="FEES").update(state_code="PAYING")
        m.CeIntentClassifier.objects.filter(intent_code="FEES").update(state_code="PAYING")
    CeConversation.objects.update(state_code="PAYING")
    other = m.CeDraft.objects.create(title="Fees are not found")
    with open_draft(other.pk, None, writing=True), change_set():
        m.CeIntentClassifier.objects.filter(intent_code="FEES").delete()
    assert "leaves without an answer" not in ada.get(url("change", other)).content.decode()
    page = ada.get(url("publish", other)).content.decode()
    assert "They keep their release." not in page
    assert "They go on there, on the new release." in page


def test_conversations_of_a_renamed_intent_need_no_target(ada: Client, draft: m.CeDraft) -> None:
    other = m.CeDraft.objects.create(title="Rename")
    with open_draft(other.pk, None, writing=True), change_set():
        intent = m.CeIntent.objects.get(pk="FEES")
        m.CeIntent.objects.filter(pk="FEES").delete()
        m.CeIntent.objects.bulk_create([m.CeIntent(intent_code="PRICES", description="x")])
        m.CeIntent.objects.filter(pk="PRICES").update(created_at=intent.created_at)
        for model in (m.CeIntentClassifier, m.CeResponse):
            model.objects.filter(intent_code="FEES").update(intent_code="PRICES")
    assert "leaves without an answer" not in ada.get(url("change", other)).content.decode()
    page: Any = ada.get(url("publish", other))
    assert "They go on there, on the new release." in page.content.decode()

    live = dict(page.context["question"].inputs)["live"]
    ada.post(url("publish", other), {"live": live, "reason": "a better name"})
    conversation_id = str(CeConversation.objects.values_list("pk", flat=True)[0])
    assert take_turn(TurnRequest(conversation_id, "what?")).session.intent == "PRICES"
