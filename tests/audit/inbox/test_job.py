"""The groups of the inbox over time: decisions hold, and what comes back says so."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.inbox.job import update_inbox
from audit.models import CeInboxGroup, CeInboxMessage
from config_admin.models import CeIntentClassifier
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
Status = CeInboxGroup.Status


def say(*messages: str) -> None:
    for message in messages:
        take_turn(TurnRequest(str(CeConversation().conversation_id), message))


def group() -> None:
    list(update_inbox())


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()
    say("gift voucher", "a gift voucher please", "gift vocher", "hours", "parking")
    CeConversationHistory._base_manager.update(created_at=timezone.now() - timedelta(minutes=1))
    group()


def test_messages_that_nobody_understood_are_grouped() -> None:
    large, small = CeInboxGroup.objects.order_by("-messages")
    assert (large.messages, large.wordings, large.this_week, large.week_before) == (3, 2, 3, 0)
    assert (small.messages, small.status) == (1, Status.OPEN)
    group()
    assert set(CeInboxGroup.objects.values_list("pk", flat=True)) == {large.pk, small.pk}


def test_a_dismissed_group_comes_back_with_a_new_message() -> None:
    CeInboxGroup.objects.update(
        status=Status.DISMISSED, decided_at=timezone.now() - timedelta(seconds=30), note="not ours"
    )
    group()
    assert set(CeInboxGroup.objects.values_list("status", "came_back")) == {(Status.DISMISSED, False)}
    # Another wording becomes the most frequent one; it is the same group.
    say("gift vocher", "gift vocher", "gift vocher")
    group()
    again = CeInboxGroup.objects.get(status=Status.OPEN)
    assert (again.came_back, again.messages, again.note) == (True, 6, "not ours")


def test_a_group_that_came_back_is_understood_when_it_is_taught() -> None:
    CeInboxGroup.objects.update(status=Status.DISMISSED, decided_at=timezone.now() - timedelta(seconds=30))
    say("gift voucher")
    group()
    assert CeInboxGroup.objects.get(status=Status.OPEN).came_back
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="a gift voucher please"
    )
    group()
    taught = CeInboxGroup.objects.get(messages=4)
    assert (taught.status, taught.came_back) == (Status.UNDERSTOOD, False)


def test_a_group_that_comes_back_although_it_is_understood_stays_open() -> None:
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="a gift voucher please"
    )
    group()
    CeConversationHistory._base_manager.filter(user_input="gift vocher").update(
        created_at=timezone.now() + timedelta(seconds=5)
    )
    for _ in range(2):
        group()
        again = CeInboxGroup.objects.get(messages=3)
        assert (again.status, again.came_back) == (Status.OPEN, True)


def test_a_group_is_understood_when_it_is_taught_and_open_again_when_that_is_undone() -> None:
    phrase = CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="a gift voucher please"
    )
    group()
    assert CeInboxGroup.objects.get(messages=3).status == Status.UNDERSTOOD
    phrase.delete()
    group()
    assert CeInboxGroup.objects.get(messages=3).status == Status.OPEN


def test_a_group_without_messages_goes_unless_something_was_decided_or_noted() -> None:
    large, small = CeInboxGroup.objects.order_by("-messages")
    CeInboxGroup.objects.filter(pk=small.pk).update(note="ask the lawyers")
    CeInboxGroup.objects.filter(pk=large.pk).update(
        status=Status.UNDERSTOOD, decided_at=timezone.now() - timedelta(seconds=30)
    )
    CeConversationHistory._base_manager.update(user_input=None)
    group()
    assert [row.pk for row in CeInboxGroup.objects.all()] == [small.pk]
    assert large.pk != small.pk


def test_the_weeks_are_counted() -> None:
    CeConversationHistory._base_manager.filter(user_input="gift vocher").update(
        created_at=timezone.now() - timedelta(days=10)
    )
    group()
    large = CeInboxGroup.objects.get(messages=3)
    assert (large.this_week, large.week_before) == (2, 1)


def test_the_messages_are_known_again_after_a_change_of_the_secret(settings: Any) -> None:
    before = dict(CeInboxGroup.objects.values_list("pk", "fingerprint"))
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret"
    group()
    after = dict(CeInboxGroup.objects.values_list("pk", "fingerprint"))
    assert before.keys() == after.keys()
    assert set(before.values()).isdisjoint(after.values())


def test_a_fingerprint_is_no_hash_that_a_reader_can_guess() -> None:
    guessed = {sha256(words.encode()).hexdigest() for words in ("gift voucher", "park")}
    assert guessed.isdisjoint(CeInboxGroup.objects.values_list("fingerprint", flat=True))


def test_an_erased_message_leaves_its_group_and_a_group_without_others_goes() -> None:
    large, small = CeInboxGroup.objects.order_by("-messages")
    CeInboxGroup.objects.update(status=Status.DISMISSED, note="Ann asked", decided_at=timezone.now())
    for leader in (large.leader, small.leader):
        turn = CeConversationHistory.objects.get(pk=leader)
        list(erase_conversation(turn.conversation_id, EraseOrder("ada", "she asked")))
    left = CeInboxGroup.objects.get()
    assert (left.pk, left.messages) == (large.pk, 2)
    assert large.leader not in left.turns
    CeInboxGroup.forget_name("An")
    assert CeInboxGroup.objects.get().note == "Ann asked"
    CeInboxGroup.forget_name("ann")
    assert CeInboxGroup.objects.get().note == ""


def test_a_group_belongs_to_one_workspace() -> None:
    CeConversation.objects.filter(turns__user_input="gift vocher").update(workspace_id="other")
    group()
    counts = CeInboxGroup.objects.order_by("workspace_id", "-messages").values_list("workspace_id", "messages")
    assert list(counts) == [("default", 2), ("default", 1), ("other", 1)]


def test_a_group_whose_messages_are_all_erased_goes_with_its_note() -> None:
    conversation, other = CeConversation().conversation_id, CeConversation().conversation_id
    for text in ("sick leave", "sick leave", "sick leave", "bananas"):
        take_turn(TurnRequest(str(conversation), text))
    take_turn(TurnRequest(str(other), "bananas"))
    group()
    before = CeInboxGroup.objects.count()
    CeInboxGroup.objects.update(note="Ask Bo")
    list(erase_conversation(conversation, EraseOrder("ada", "asked")))
    assert CeInboxGroup.objects.count() == before - 1
    assert set(CeInboxGroup.objects.values_list("messages", "note")) == {(3, "Ask Bo"), (1, "Ask Bo")}
    group()
    assert set(CeInboxGroup.objects.values_list("messages", flat=True)) == {3, 1}


def test_a_bare_answer_is_in_no_group() -> None:
    say("yes", "No!", "ja bitte", "1", "12:30", "yes, a gift voucher")
    group()
    texts = CeConversationHistory.objects.filter(pk__in=CeInboxMessage.objects.values("turn"))
    assert set(texts.values_list("user_input", flat=True)) == {
        *("gift voucher", "a gift voucher please", "gift vocher", "parking", "yes, a gift voucher"),
    }


def test_a_job_that_is_killed_stores_nothing_or_all() -> None:
    CeInboxGroup.objects.all().delete()

    def end_connection(execute: Any, sql: str, *rest: Any) -> Any:
        if 'INTO "ce_inbox_message"' in sql:
            raise OperationalError("the process was killed")
        return execute(sql, *rest)

    with connection.execute_wrapper(end_connection), pytest.raises(OperationalError):
        group()
    assert not CeInboxGroup.objects.exists()
    for _ in range(2):
        group()
        assert list(CeInboxGroup.objects.order_by("-messages").values_list("messages", flat=True)) == [3, 1]
        assert CeInboxMessage.objects.count() == 4
