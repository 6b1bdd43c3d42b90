"""A turn's one commit, and the record of one that failed: all or nothing."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from audit.live.read_events import mark_watched
from audit.models import CeAudit, CeRunningEvent, CeTurnIndex
from audit.record.events import read_document
from config_admin.models import CeResponse
from convengine.engine.errors import TurnConflict, TurnInterrupted
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.turn.session import Session
from convengine.server.database.sql import Statement, execute
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeIdempotency, CeMemory
from convengine.server.turns.acquire import renew_lease
from convengine.server.turns.commit import (
    DatabaseStepFlush,
    EndedTurn,
    commit_turn,
    end_session_stmt,
    insert_next_session,
    record_failure,
    recreate_session,
)
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.turns.interruption import interrupt_running_turn
from tests.convengine.server.turns.shells import ran
from tests.record import events

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
TABLES = (CeConversation, CeConversationHistory, CeTurnIndex, CeRunningEvent, CeMemory)


def everything() -> list[list[dict[str, Any]]]:
    return [list(table.objects.order_by("pk").values()) for table in TABLES]


def lose_lease(ran: EndedTurn) -> None:
    """Somebody else has the lease."""
    CeConversation.objects.update(lease_token=uuid.uuid4())


def test_everything_of_a_turn_is_stored_at_once_and_the_lease_given_back(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    assert not CeAudit.objects.filter(turn_no=2).exists()

    commit_turn(ran_turn, [])

    row = CeConversation.objects.get()
    assert (row.intent_code, row.turn_count, row.version, row.lease_token, row.lease_info) == ("FEES", 2, 2, None, None)
    record = row.turns.get(turn_no=2)
    assert (record.status, record.user_input, record.assistant_output["value"]) == ("OK", "fees", "No fees.")
    stages = list(CeAudit.objects.filter(turn_no=2).values_list("stage", flat=True))
    assert {"USER_INPUT", "ENGINE_RETURN"} <= set(stages)
    assert CeTurnIndex.objects.filter(turn_id=record.turn_id).exists()
    assert CeMemory.objects.get().to_turn == 2


def test_a_turn_that_lost_its_lease_stores_nothing(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    lose_lease(ran_turn)
    before = everything()

    with pytest.raises(TurnConflict):
        commit_turn(ran_turn, [])

    assert everything() == before


def test_a_turn_that_was_interrupted_stores_nothing(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    assert interrupt_running_turn(conversation_id, str(uuid.uuid4()), "hours")
    before = everything()

    with pytest.raises(TurnInterrupted):
        commit_turn(ran_turn, [])

    assert everything() == before


def test_a_turn_in_which_an_action_ran_is_stored_whatever_came(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    assert interrupt_running_turn(conversation_id, str(uuid.uuid4()), "hours")
    ran_turn.turn.uninterruptible = True

    commit_turn(ran_turn, [])

    row = CeConversation.objects.get()
    assert (row.turn_count, row.lifecycle, row.lease_interrupted_by) == (2, "RUNNING", None)


def test_a_stored_answer_that_another_call_kept_meanwhile_undoes_all(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    before = everything()
    never = Statement("UPDATE ce_idempotency SET key = key WHERE id = -1", [], must_match=True)

    with pytest.raises(TurnConflict):
        commit_turn(ran_turn, [never])

    assert everything() == before
    assert not CeIdempotency.objects.exists()


def test_a_deleted_conversation_is_made_anew_and_the_record_says_so(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    CeConversation.objects.all().delete()

    commit_turn(ran_turn, [])

    record = CeConversationHistory.objects.get()
    assert (record.turn_no, record.replayable) == (2, False)
    assert "deleted while the turn ran" in str(record.replay_note)
    assert CeConversation.objects.get().intent_code == "FEES"


def run_failing_turn(conversation_id: str) -> EndedTurn:
    CeResponse.objects.filter(intent_code="FEES").delete()
    ran_turn = ran(conversation_id, "fees")
    assert ran_turn.outcome.error
    return ran_turn


def test_a_failed_turn_leaves_its_record_and_trail_and_the_conversation_as_it_was(conversation_id: str) -> None:
    ran_turn = run_failing_turn(conversation_id)
    (before,) = CeConversation.objects.values()

    record_failure(ran_turn)

    (after,) = CeConversation.objects.values()
    sealed = {"chain_head": after["chain_head"]}
    freed = {"lease_token": None, "lease_expires_at": None, "lease_info": None, **sealed}
    assert after == before | freed
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.error_code) == ("FAILED", "RESPONSE_MAPPING_NOT_FOUND")
    assert record.assistant_output is None
    assert CeAudit.objects.filter(turn_no=2, stage="RESPONSE_MAPPING_NOT_FOUND").exists()


def test_a_failed_turn_that_lost_its_lease_leaves_nothing(conversation_id: str) -> None:
    ran_turn = run_failing_turn(conversation_id)
    lose_lease(ran_turn)
    before = everything()

    with pytest.raises(TurnConflict):
        record_failure(ran_turn)

    assert everything() == before


def test_an_interrupted_turn_is_told_as_such(conversation_id: str) -> None:
    ran_turn = ran(conversation_id, "fees")
    outcome = EngineOutcome(ran_turn.outcome.session, error=TurnInterrupted())

    record_failure(replace(ran_turn, outcome=outcome))

    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.error_code, record.replayable) == ("INTERRUPTED", "TURN_INTERRUPTED", False)
    event = CeAudit.objects.get(turn_no=2, stage="SESSION_LIFECYCLE").payload_json
    assert (event["from"], event["to"], event["reason"]) == ("RUNNING", "INTERRUPTED", "interrupted")


class TestStepFlush:
    def test_it_stores_what_is_new_and_holds_the_lease_for_longer(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")
        flush = DatabaseStepFlush(ran_turn.lease)
        CeConversation.objects.update(lease_expires_at=None)

        flush(ran_turn.turn)
        flush(ran_turn.turn)

        part = CeRunningEvent.objects.get()
        assert len(read_document(part.events)) == part.last_seq == len(ran_turn.turn.trail.events) == flush.stored
        assert CeConversation.objects.get().lease_expires_at is not None

    def test_it_stores_nothing_of_a_turn_that_lost_its_lease(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")
        lose_lease(ran_turn)

        with pytest.raises(TurnConflict), transaction.atomic():
            DatabaseStepFlush(ran_turn.lease)(ran_turn.turn)

        assert not CeRunningEvent.objects.exists()

    def test_the_commit_adds_the_rest(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")
        flush = DatabaseStepFlush(ran_turn.lease)
        flush(ran_turn.turn)

        commit_turn(replace(ran_turn, turn=replace(ran_turn.turn, flush_step=flush)), [])

        seqs = CeAudit.objects.filter(turn_no=2).order_by("seq").values_list("seq", flat=True)
        assert list(seqs) == list(range(1, len(seqs) + 1))
        assert not CeRunningEvent.objects.exists()

    def test_a_turn_that_nobody_watches_stores_nothing_before_its_commit(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")

        DatabaseStepFlush(ran_turn.lease, always=False)(ran_turn.turn)

        assert not CeRunningEvent.objects.exists()

    def test_a_renewal_tells_whether_somebody_reads_the_conversation(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")
        token = ran_turn.lease.token

        assert renew_lease(token) is False
        mark_watched([conversation_id])
        assert renew_lease(token) is True
        lose_lease(ran_turn)
        assert renew_lease(token) is None

    def test_who_takes_over_an_expired_lease_makes_the_record_from_them(self, conversation_id: str) -> None:
        ran_turn = ran(conversation_id, "fees")
        DatabaseStepFlush(ran_turn.lease)(ran_turn.turn)
        CeConversation.objects.update(lease_expires_at=ran_turn.lease.now - timedelta(hours=1))

        assert recover_expired_lease(conversation_id)

        stages = [event.stage for event in events(turn_no=2)]
        assert stages[:-1] == [event.stage for event in ran_turn.turn.trail.events]
        assert stages[-1] == "ENGINE_UNKNOWN_FAILURE"
        assert CeConversationHistory.objects.get(turn_no=2).status == "FAILED"
        assert not CeRunningEvent.objects.exists()


@pytest.fixture
def ran_turn(conversation_id: str) -> EndedTurn:
    """The second turn of a conversation, run and not stored."""
    return ran(conversation_id, "fees", input_params={"tier": "gold"})


def end_session(ran_turn: EndedTurn) -> Session:
    return ran_turn.outcome.session.evolve(lifecycle="COMPLETE", lifecycle_detail={"reason": "new_task", "at": "now"})


def test_a_session_that_is_left_is_closed_and_gives_its_lease_back(ran_turn: EndedTurn) -> None:
    assert execute(end_session_stmt(ran_turn.lease, end_session(ran_turn)))

    row = CeConversation.objects.get()
    assert (row.lifecycle, row.lifecycle_detail["reason"]) == ("COMPLETE", "new_task")
    assert (row.version, row.lease_token, row.lease_info) == (2, None, None)
    # What the turn found out belongs to the session that it began.
    assert (row.intent_code, row.turn_count) == ("HOURS", 1)


@pytest.mark.parametrize("what", ["lost", "changed", "interrupted"])
def test_it_is_not_left_when_something_came_between(ran_turn: EndedTurn, what: str) -> None:
    if what == "interrupted":
        assert interrupt_running_turn(ran_turn.lease.conversation.conversation_id, str(uuid.uuid4()), "hours")
    else:
        CeConversation.objects.update(**({"lease_token": uuid.uuid4()} if what == "lost" else {"version": 9}))

    assert not execute(end_session_stmt(ran_turn.lease, end_session(ran_turn)))


def test_the_session_that_began_is_its_first_turn_and_points_back(ran_turn: EndedTurn) -> None:
    key = str(uuid.uuid4())
    CeConversation.objects.update(opened_by="a key")
    execute(end_session_stmt(ran_turn.lease, end_session(ran_turn)))

    session = ran_turn.outcome.session.evolve(conversation_id=key, turn_no=1)
    insert_next_session(ran_turn.turn, ran_turn.lease, session)

    row, before = CeConversation.objects.get(pk=key), ran_turn.lease.conversation
    assert str(row.previous_session_id) == before.conversation_id
    assert (row.version, row.turn_count, row.last_turn_no, row.opened_by) == (0, 1, 1, "a key")
    assert (row.workspace_id, row.channel, row.remote_jid) == (before.workspace_id, before.channel, before.remote_jid)
    assert (row.intent_code, row.last_user_text, row.created_at) == ("FEES", "fees", ran_turn.lease.now)


def test_a_row_that_was_deleted_is_made_anew_with_what_the_turn_knows(ran_turn: EndedTurn) -> None:
    CeConversation.objects.all().delete()

    recreate_session(ran_turn.turn, ran_turn.lease, ran_turn.outcome.session)

    row = CeConversation.objects.get()
    assert (row.intent_code, row.version, row.turn_count, row.last_turn_no) == ("FEES", 2, 2, 2)
    assert row.input_params_json["tier"] == "gold"
    # What lives for one turn is not kept.
    assert "dialogue_act" not in row.input_params_json
    created = [event for event in ran_turn.turn.trail.events if event.stage == "CONVERSATION_CREATED"]
    assert [event.payload["reason"] for event in created] == ["recreated"]


def test_a_row_that_is_there_is_never_made_anew(ran_turn: EndedTurn) -> None:
    before = CeConversation.objects.values().get()

    with pytest.raises(TurnConflict):
        recreate_session(ran_turn.turn, replace(ran_turn.lease, token=str(uuid.uuid4())), ran_turn.outcome.session)

    assert CeConversation.objects.values().get() == before
