"""Rows of conversations made in a commit: of a session that a turn began, or anew after somebody deleted it."""

import uuid
from dataclasses import replace

import pytest

from convengine.engine.errors import TurnConflict
from convengine.engine.turn.session import Session
from convengine.server.database.statements import execute
from convengine.server.sessions.models import CeConversation
from convengine.server.turns import session_rows
from convengine.server.turns.interruption import interrupt_running_turn
from tests.convengine.server.turns.shells import Ran, ran

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def one(conversation_id: str) -> Ran:
    """The second turn of a conversation, run and not stored."""
    return ran(conversation_id, "fees", input_params={"tier": "gold", "policy_decision": "x"})


def end_session(one: Ran) -> Session:
    return one.outcome.session.evolve(lifecycle="COMPLETE", lifecycle_detail={"reason": "new_task", "at": "now"})


def test_a_session_that_is_left_is_closed_and_gives_its_lease_back(one: Ran) -> None:
    assert execute(session_rows.end_session_stmt(one.lease, end_session(one)))

    row = CeConversation.objects.get()
    assert (row.lifecycle, row.lifecycle_detail["reason"]) == ("COMPLETE", "new_task")
    assert (row.version, row.lease_token, row.lease_info) == (2, None, None)
    # What the turn found out belongs to the session that it began.
    assert (row.intent_code, row.turn_count) == ("HOURS", 1)


@pytest.mark.parametrize("what", ["lost", "changed", "interrupted"])
def test_it_is_not_left_when_something_came_between(one: Ran, what: str) -> None:
    if what == "interrupted":
        assert interrupt_running_turn(one.lease.conversation.conversation_id, str(uuid.uuid4()), "hours")
    else:
        CeConversation.objects.update(**({"lease_token": uuid.uuid4()} if what == "lost" else {"version": 9}))

    assert not execute(session_rows.end_session_stmt(one.lease, end_session(one)))


def test_the_session_that_began_is_its_first_turn_and_points_back(one: Ran) -> None:
    key = str(uuid.uuid4())
    CeConversation.objects.update(opened_by="a key")
    execute(session_rows.end_session_stmt(one.lease, end_session(one)))

    one.turn.turn_no = 1
    session_rows.insert_next_session(one.turn, one.lease, one.outcome.session.evolve(conversation_id=key))

    row, before = CeConversation.objects.get(pk=key), one.lease.conversation
    assert str(row.previous_session_id) == before.conversation_id
    assert (row.version, row.turn_count, row.last_turn_no, row.opened_by) == (0, 1, 1, "a key")
    assert (row.workspace_id, row.channel, row.remote_jid) == (before.workspace_id, before.channel, before.remote_jid)
    assert (row.intent_code, row.last_user_text, row.created_at) == ("FEES", "fees", one.lease.now)


def test_a_row_that_was_deleted_is_made_anew_with_what_the_turn_knows(one: Ran) -> None:
    CeConversation.objects.all().delete()

    session_rows.recreate_session(one.turn, one.lease, one.outcome.session)

    row = CeConversation.objects.get()
    assert (row.intent_code, row.version, row.turn_count, row.last_turn_no) == ("FEES", 2, 2, 2)
    assert row.input_params_json["tier"] == "gold"
    # What lives for one turn is not kept.
    assert "dialogue_act" not in row.input_params_json
    created = [event for event in one.turn.trail.events if event.stage == "CONVERSATION_CREATED"]
    assert [event.payload["reason"] for event in created] == ["recreated"]


def test_a_row_that_is_there_is_never_made_anew(one: Ran) -> None:
    before = CeConversation.objects.values().get()

    with pytest.raises(TurnConflict):
        session_rows.recreate_session(one.turn, replace(one.lease, token=str(uuid.uuid4())), one.outcome.session)

    assert CeConversation.objects.values().get() == before
