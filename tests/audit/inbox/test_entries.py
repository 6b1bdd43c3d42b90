"""What the job reads anew: only new messages, with the same groups as if it had read all of them."""

import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.feedback.store import FeedbackInput, store_feedback
from audit.inbox import entries, job
from audit.inbox.grouping import normalise
from audit.inbox.job import group_again, update_inbox
from audit.models import CeInboxGroup, CeInboxMessage, CeInboxProgress
from config_admin.models import CeIntentClassifier, CeResponse
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.audit.inbox.test_collect import make_form
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
TEXTS = (
    *("gift voucher", "a gift voucher please", "gift vocher", "gift vouchers", "git vouchers", "gift"),
    *("parking", "parking lot", "parkin lots", "where to park", "hours and fees", "fees and hours", "medium", "person"),
)


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()
    make_form()
    CeIntentClassifier.objects.create(
        intent_code="HOURS", state_code="HAND_OVER", rule_type="CONTAINS", pattern="person"
    )
    CeResponse.objects.create(
        intent_code="HOURS", state_code="HAND_OVER", response_type="EXACT", exact_text="Somebody comes."
    )


def talk(choose: random.Random) -> None:
    conversation = CeConversation().conversation_id
    for _ in range(choose.randint(1, 3)):
        take_turn(TurnRequest(str(conversation), choose.choice((*TEXTS, "fees"))))
    if choose.random() < 0.4:
        thumb = choose.choice(("THUMBS_UP", "THUMBS_DOWN", "THUMBS_DOWN"))
        store_feedback(conversation, None, choose.choice("ab"), FeedbackInput(thumb))


def read_groups() -> set[Any]:
    """The groups with all their messages, without their numbers."""
    columns = ("kind", "fingerprint", "leader", "messages", "wordings", "this_week", "week_before", "status")
    return {
        (
            *(getattr(group, name) for name in (*columns, "first_at", "last_at")),
            tuple(group.examples),
            tuple(sorted(CeInboxMessage.objects.filter(group=group).values_list("turn", "wording", "leader"))),
        )
        for group in CeInboxGroup.objects.all()
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_groups_are_those_of_all_messages_at_once(seed: int) -> None:
    choose = random.Random(seed)
    for part in range(3):
        for _ in range(6):
            talk(choose)
        if part == 1:
            erased = choose.choice(list(CeConversation.objects.order_by("created_at")))
            list(erase_conversation(erased.pk, EraseOrder("ada", "asked")))
        list(update_inbox())
        grown = read_groups()
        assert len(grown) > 3
        list(group_again())
        assert read_groups() == grown


def test_a_message_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note_text(text: str) -> str:
        read.append(text)
        return normalise(text)

    monkeypatch.setattr(job, "_SLACK", timedelta(seconds=-1))
    for text in TEXTS:
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())
    monkeypatch.setattr(entries, "normalise", note_text)
    list(update_inbox())
    assert read == []


def test_a_job_that_is_killed_reads_again_and_stores_the_same() -> None:
    for text in TEXTS:
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))

    def end_connection(execute: Any, sql: str, *rest: Any) -> Any:
        if 'INTO "ce_inbox_progress"' in sql:
            raise OperationalError("the process was killed")
        return execute(sql, *rest)

    with connection.execute_wrapper(end_connection), pytest.raises(OperationalError):
        list(update_inbox())
    assert not CeInboxGroup.objects.exists()
    assert not CeInboxMessage.objects.exists()
    list(update_inbox())
    grown = read_groups()
    list(update_inbox())
    assert read_groups() == grown


def test_all_messages_are_read_once_a_day(settings: Any) -> None:
    take_turn(TurnRequest(str(CeConversation().conversation_id), "gift voucher"))
    list(update_inbox())
    first = CeInboxProgress.objects.get(kind="NOT_UNDERSTOOD").since
    list(update_inbox())
    assert CeInboxProgress.objects.get(kind="NOT_UNDERSTOOD").since == first
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 86_400.0}
    list(update_inbox())
    assert CeInboxProgress.objects.get(kind="NOT_UNDERSTOOD").since > first


def test_a_group_whose_messages_are_all_erased_goes_with_its_note() -> None:
    conversation, other = CeConversation().conversation_id, CeConversation().conversation_id
    for text in ("gift voucher", "gift voucher", "gift voucher", "parking"):
        take_turn(TurnRequest(str(conversation), text))
    take_turn(TurnRequest(str(other), "parking"))
    list(update_inbox())
    CeInboxGroup.objects.update(note="Ask Bo")
    list(erase_conversation(conversation, EraseOrder("ada", "asked")))
    (remaining,) = CeInboxGroup.objects.all()
    assert (remaining.messages, remaining.note) == (1, "Ask Bo")
    list(update_inbox())
    assert CeInboxGroup.objects.get().messages == 1


def test_a_bare_answer_is_in_no_group() -> None:
    for text in ("gift voucher", "yes", "No!", "ja bitte", "1", "12:30", "yes, a gift voucher"):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(group_again())
    texts = CeConversationHistory.objects.filter(pk__in=CeInboxMessage.objects.values("turn"))
    assert set(texts.values_list("user_input", flat=True)) == {"gift voucher", "yes, a gift voucher"}
