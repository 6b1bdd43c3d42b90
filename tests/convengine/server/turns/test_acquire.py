import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import execute
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns import acquire as leases
from convengine.server.turns import idempotency
from convengine.server.turns.acquire import AlreadyAnswered
from convengine.server.turns.idempotency import IdempotencyKey

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]


@contextmanager
def behind_a_commit(call: Callable[[], None]) -> Iterator[None]:
    """Run `call` in a thread so that its first write waits for the transaction of this block."""

    def run() -> None:
        call()
        connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        CeConversation.objects.select_for_update().get()
        thread.start()
        time.sleep(0.5)
        yield
    thread.join()


def a_turn_of_another_process(conversation_id: str) -> str:
    """What the whole second turn of the conversation leaves, in the transaction that is open; gives its id."""
    CeConversation.objects.update(version=F("version") + 1, last_turn_no=2, turn_count=2)
    record = CeConversationHistory.objects.create(
        conversation_id=conversation_id,
        turn_no=2,
        config_version=1,
        facts={"mark": "second"},
        created_at=timezone.now(),
    )
    return str(record.turn_id)


def test_a_lease_reads_the_row_and_the_last_turn_of_one_moment(conversation_id: str) -> None:
    taken: list[leases.Lease] = []

    with behind_a_commit(lambda: taken.append(leases.acquire(TurnRequest(conversation_id, "fees")))):
        a_turn_of_another_process(conversation_id)

    assert (taken[0].turn_no, taken[0].conversation.version) == (3, 2)
    assert taken[0].previous_turn == {"mark": "second"}


def test_a_call_that_was_answered_while_it_waited_for_the_row_never_runs(conversation_id: str) -> None:
    key = IdempotencyKey.of("key", "once", {"message": "fees"})
    answers: list[object] = []

    def call() -> None:
        with pytest.raises(AlreadyAnswered) as answered:
            leases.acquire(TurnRequest(conversation_id, "fees"), key)
        answers.append(answered.value.body)

    with behind_a_commit(call):
        turn_id = a_turn_of_another_process(conversation_id)
        assert execute(idempotency.store_answer_stmt(key, conversation_id, turn_id, {"said": "No fees."}))

    assert answers == [{"said": "No fees."}]
    assert CeConversation.objects.get().last_turn_no == 2
