import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from bench.statements import count_statements
from config_admin.models import CeConfig
from convengine.engine.errors import TurnInProgress
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import database_time, execute
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns import acquire, idempotency
from convengine.server.turns import acquire as leases
from convengine.server.turns.acquire import AlreadyAnswered, LeaseRenewer
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
        assert execute(
            idempotency.store_answer_stmt(key, conversation_id, turn_id, {"said": "No fees."}, database_time())
        )

    assert answers == [{"said": "No fees."}]
    assert CeConversation.objects.get().last_turn_no == 2


def test_a_free_lease_takes_one_statement_also_with_a_key(conversation_id: str) -> None:
    with count_statements() as work:
        leases.acquire(TurnRequest(conversation_id, "fees"), IdempotencyKey.of("key", "once", {"message": "fees"}))

    assert len(work.statements) == 1, work.statements


@pytest.mark.parametrize("key", [None, IdempotencyKey.of("key", "once", {"message": "fees"})])
def test_a_call_without_an_id_begins_its_conversation_in_one_statement(
    conversation_id: str, key: IdempotencyKey | None
) -> None:
    name = str(uuid.uuid4())
    with count_statements() as work:
        lease = leases.acquire(TurnRequest(name, "fees", new=True), key, "prefix")

    assert len(work.statements) == 1, work.statements
    assert (lease.turn_no, lease.created, lease.conversation.version) == (1, True, 0)
    row = CeConversation.objects.get(pk=name)
    assert (row.opened_by, row.last_turn_no, row.lease_info["turnNo"]) == ("prefix", 1, 1)
    assert str(row.lease_token) == lease.token
    assert row.is_genuine()


def test_a_retry_without_an_id_goes_on_with_the_conversation_of_the_call_before(conversation_id: str) -> None:
    key = IdempotencyKey.of("key", "once", {"message": "fees"})

    lease = leases.acquire(TurnRequest(conversation_id, "fees", new=True), key)

    assert (lease.turn_no, lease.created) == (2, False)


def test_of_two_calls_that_begin_one_conversation_the_second_waits(conversation_id: str) -> None:
    request = TurnRequest(str(uuid.uuid4()), "fees", new=True)
    leases.acquire(request)
    CeConfig.objects.create(config_type="Session", config_key="ON_CONCURRENT_TURN", config_value="reject")

    with pytest.raises(TurnInProgress):
        leases.acquire(request)


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(acquire, "lease_seconds", lambda: 0.15)
    monkeypatch.setattr(acquire, "renew_lease", lambda token: calls.append(token) or True)
    return calls


def wait_for(condition: object, limit: float = 60.0) -> None:
    deadline = time.monotonic() + limit
    while not condition() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.01)


def test_a_turn_that_lasts_has_its_lease_renewed_again_and_again(renewed: list[str]) -> None:
    with LeaseRenewer().renewing("t"):
        wait_for(lambda: len(renewed) >= 2)

    assert renewed[:2] == ["t", "t"]


def test_a_renewal_learns_that_somebody_reads_the_turn_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acquire, "lease_seconds", lambda: 3)
    monkeypatch.setattr(acquire, "renew_lease", lambda token: token == "watched")
    renewer = LeaseRenewer()

    with renewer.renewing("watched"), renewer.renewing("alone"):
        assert not renewer.is_watched("watched")
        wait_for(lambda: renewer.is_watched("watched"))
        assert (renewer.is_watched("watched"), renewer.is_watched("alone")) == (True, False)

    assert not renewer.is_watched("watched")


def test_a_turn_that_is_over_is_left_alone(renewed: list[str]) -> None:
    renewer = LeaseRenewer()
    with renewer.renewing("t"):
        pass
    time.sleep(0.2)

    assert renewed == []


def test_the_lease_of_a_turn_that_should_have_been_ended_is_not_renewed(
    renewed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquire, "find_longest_seconds", lambda: 0.0)
    with LeaseRenewer().renewing("t"):
        time.sleep(0.3)

    assert renewed == []


def test_one_thread_serves_all_turns_of_the_process(renewed: list[str]) -> None:
    renewer = LeaseRenewer()
    before = threading.active_count()

    with renewer.renewing("a"), renewer.renewing("b"):
        wait_for(lambda: {"a", "b"} <= set(renewed))
        assert threading.active_count() == before + 1

    assert {"a", "b"} <= set(renewed)
