import threading
import uuid
from dataclasses import asdict
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from convengine.engine.errors import ConversationPersistFailed
from convengine.engine.turn.ports import Execution, ExecutionClaim, RuleTaskClaim
from convengine.engine.turn.recording import Playback, Recording
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CePendingActionExecution

pytestmark = pytest.mark.dialects

IN_ONE_TRANSACTION = pytest.mark.django_db
FOR_REAL = pytest.mark.django_db(transaction=True)


def make_claim(**values: Any) -> ExecutionClaim:
    conversation = CeConversation.objects.create(remote_jid=str(uuid.uuid4()))
    defaults = {
        "conversation_id": str(conversation.pk),
        "turn_id": str(uuid.uuid4()),
        "nonce": str(uuid.uuid4()),
        "action_key": "PAY",
        "action_ref": "billing:refund",
        "request_hash": "digest",
    }
    return ExecutionClaim(**{**defaults, **values})


def commit_turn(claim: ExecutionClaim, **values: Any) -> None:
    """The turn of a claim has its record."""
    record = {"turn_no": 1, "status": "OK", "config_version": 1, **values}
    CeConversationHistory.objects.create(
        conversation_id=claim.conversation_id, turn_id=claim.turn_id, intent_code="A", state_code="B", **record
    )


@IN_ONE_TRANSACTION
def test_a_claim_is_made_once_and_then_found() -> None:
    claim, book = make_claim(), Executions(Recording())

    first, second = book.claim(claim), book.claim(claim)

    assert (first.claimed, first.status, first.request_hash) == (True, "CLAIMED", "digest")
    assert second == Execution(False, first.execution_id, "CLAIMED", None, "digest")
    row = CePendingActionExecution.objects.get()
    assert (row.action_key, row.action_ref, row.pk) == ("PAY", "billing:refund", first.execution_id)
    assert (str(row.turn_id), row.finished_at) == (claim.turn_id, None)


@IN_ONE_TRANSACTION
def test_how_it_ended_is_found_with_it() -> None:
    claim, book = make_claim(), Executions(Recording())
    book.claim(claim)

    book.finish(claim, "EXECUTED", {"values": [7]})

    execution = book.claim(claim)
    assert (execution.claimed, execution.status, execution.result) == (False, "EXECUTED", {"values": [7]})
    assert CePendingActionExecution.objects.get().finished_at is not None


@IN_ONE_TRANSACTION
def test_another_opening_and_another_conversation_have_claims_of_their_own() -> None:
    book, claim = Executions(Recording()), make_claim()
    others = [make_claim(conversation_id=claim.conversation_id), make_claim(nonce=claim.nonce)]

    assert book.claim(claim).claimed
    book.finish(claim, "EXECUTED", {})
    commit_turn(claim)
    assert all(book.claim(other).claimed for other in others)


@IN_ONE_TRANSACTION
def test_what_a_dead_turn_executed_is_taken_over_by_another_opening_and_not_run_again() -> None:
    book, claim = Executions(Recording()), make_claim()
    number = book.claim(claim).execution_id
    book.finish(claim, "EXECUTED", {"values": [7]})
    commit_turn(claim, status="FAILED", turn_no=1)
    new_claim = make_claim(conversation_id=claim.conversation_id)
    again = make_claim(conversation_id=claim.conversation_id)
    another = make_claim(conversation_id=claim.conversation_id, action_key="SHIP")

    taken = book.claim(new_claim)

    assert (taken.claimed, taken.status, taken.execution_id) == (False, "EXECUTED", number)
    assert (taken.result, taken.other_nonce) == ({"values": [7]}, claim.nonce)
    assert book.claim(another).claimed
    # The turn that took it over dies as well: the next one is told.
    assert book.claim(again).status == "EXECUTED"
    # That one lives, so that the user knows; what is confirmed from now on is something else.
    commit_turn(again, turn_no=2)
    assert book.claim(make_claim(conversation_id=claim.conversation_id)).claimed


@IN_ONE_TRANSACTION
def test_what_a_dead_turn_did_in_vain_may_be_done_by_another_opening() -> None:
    book, claim = Executions(Recording()), make_claim()
    book.claim(claim)
    book.finish(claim, "FAILED", {"errorType": "TimeoutError"})

    assert book.claim(make_claim(conversation_id=claim.conversation_id)).claimed


@IN_ONE_TRANSACTION
def test_an_action_whose_end_nobody_knows_is_not_begun_again_by_another_opening() -> None:
    book, claim = Executions(Recording()), make_claim()
    unfinished = book.claim(claim)
    new_claim = make_claim(conversation_id=claim.conversation_id)
    another = make_claim(conversation_id=claim.conversation_id, action_key="SHIP")

    assert book.claim(new_claim) == Execution(False, unfinished.execution_id, "CLAIMED", None, "digest", claim.nonce)
    assert book.claim(another).claimed

    # A person has found out.
    CePendingActionExecution.objects.filter(pk=unfinished.execution_id).update(status="FAILED")
    assert book.claim(new_claim).claimed


@IN_ONE_TRANSACTION
def test_what_a_person_decides_at_this_moment_blocks_no_more() -> None:
    book, earlier = Executions(Recording()), make_claim()
    book.claim(earlier)
    later = make_claim(conversation_id=earlier.conversation_id)

    def decide(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT e.id"):
            CePendingActionExecution.objects.filter(runtime_nonce=earlier.nonce).update(status="FAILED")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(decide):
        assert book.claim(later).claimed


def make_task_claim(**values: Any) -> RuleTaskClaim:
    return RuleTaskClaim(**{**asdict(make_claim()), "action_key": "rule:41", **values})


@IN_ONE_TRANSACTION
def test_what_a_dead_turn_did_for_a_rule_is_taken_over_by_the_same_request_only_and_once_in_a_turn() -> None:
    book, claim = Executions(Recording()), make_task_claim()
    book.claim(claim)
    book.finish(claim, "EXECUTED", {"values": [7]})
    conversation = {"conversation_id": claim.conversation_id}

    another = make_task_claim(**conversation, request_hash="another")
    assert book.claim(another).claimed
    book.finish(another, "EXECUTED", {})
    same = make_task_claim(**conversation)
    taken = book.claim(same)
    assert (taken.claimed, taken.result) == (False, {"values": [7]})
    # The rule runs its task once more in this turn: that is another run.
    assert book.claim(make_task_claim(**conversation, turn_id=same.turn_id)).claimed


@IN_ONE_TRANSACTION
def test_the_runs_of_one_turn_do_not_stand_in_each_others_way() -> None:
    book, claim = Executions(Recording()), make_task_claim()
    book.claim(claim)
    book.finish(claim, "EXECUTED", {})

    assert book.claim(make_task_claim(conversation_id=claim.conversation_id, turn_id=claim.turn_id)).claimed


@IN_ONE_TRANSACTION
def test_a_rules_task_whose_end_nobody_knows_waits_whatever_is_requested() -> None:
    book, claim = Executions(Recording()), make_task_claim()
    book.claim(claim)
    other = make_task_claim(conversation_id=claim.conversation_id, request_hash="another")

    assert book.claim(other).status == "CLAIMED"
    assert book.claim(make_task_claim(conversation_id=claim.conversation_id, action_key="rule:42")).claimed


@IN_ONE_TRANSACTION
def test_what_a_person_has_decided_stands() -> None:
    claim, book = make_claim(), Executions(Recording())
    book.claim(claim)
    CePendingActionExecution.objects.update(status="FAILED")

    book.finish(claim, "EXECUTED", {})

    assert CePendingActionExecution.objects.get().status == "FAILED"


@FOR_REAL
def test_of_many_at_once_one_gets_it() -> None:
    claim, answers, gate = make_claim(), [], threading.Barrier(6)

    def ask() -> None:
        try:
            gate.wait()
            answers.append(Executions(Recording()).claim(claim).claimed)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [False] * 5 + [True]
    assert CePendingActionExecution.objects.count() == 1


@FOR_REAL
def test_a_claim_never_hangs_on_the_fate_of_another_transaction() -> None:
    claim = make_claim()

    with pytest.raises(RuntimeError), transaction.atomic():
        Executions(Recording()).claim(claim)


@IN_ONE_TRANSACTION
def test_a_database_that_fails_is_a_recoverable_error_and_replays_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(claim: ExecutionClaim) -> None:
        raise DatabaseError("disk full")

    claim, tape = make_claim(), Recording()
    monkeypatch.setattr("convengine.server.confirmed_actions.run_once._insert_claim", fails)

    for book in (Executions(tape), Executions(Playback(tape.entries))):
        with pytest.raises(ConversationPersistFailed):
            book.claim(claim)


def test_a_replay_asks_the_tape_and_no_database() -> None:
    claim = ExecutionClaim("c", "t", "n", "PAY", "billing:refund", "digest")
    answer = {"claimed": True, "execution_id": 3, "status": "CLAIMED", "result": None, "request_hash": "digest"}
    tape = [
        ["execution.claim", claim.__dict__, answer],
        ["execution.finish", {"nonce": "n", "status": "EXECUTED"}, {}],
    ]
    book = Executions(Playback(tape))

    assert book.claim(claim) == Execution(True, 3, "CLAIMED", None, "digest")
    book.finish(claim, "EXECUTED", {"values": []})
