"""What a turn leaves is one document, which readers, seals and SQL tools read."""

import uuid

import pytest
from django.db import connection

from audit.integrity import verify
from audit.models import CeAudit, CeTurnIndex
from audit.record import queries
from audit.record.document import encode_turn
from audit.record.events import expand_events, read_document
from audit.record.turn_index import list_index_entries, read_index_entries
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.codec import loads
from convengine.engine.turn.session import Session
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.builders import make_turn

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_the_document_has_every_event_of_the_turn_in_order(caller: Caller) -> None:
    caller.say("hours")

    row = CeConversationHistory.objects.get()
    entries = read_document(row.events)
    assert [entry["seq"] for entry in entries] == list(range(1, row.last_seq + 1))
    assert set(entries[0]) == {"seq", "stage", "step", "ms", "payload", "session"}
    assert {"STEP_ENTER", "STEP_EXIT", "USER_INPUT", "PIPELINE_TIMING"} <= {entry["stage"] for entry in entries}


def test_a_document_of_later_events_begins_with_the_whole_session_even_if_nothing_changed() -> None:
    turn, session = make_turn(), Session(str(uuid.uuid4()), intent="LOAN")
    for text in ("a", "b", "c"):
        turn.audit(session, USER_INPUT, text=text)

    first, second = encode_turn(turn, after_seq=1).entries
    assert (first["seq"], first["session"]["intent"]) == (2, "LOAN")
    assert second.keys() == {"seq", "stage", "step", "ms", "payload"}
    assert "session" not in encode_turn(turn, after_seq=1, continued=True).entries[0]


def test_most_events_of_steps_are_one_list(caller: Caller) -> None:
    caller.say("hours")

    (first, *others) = loads(CeConversationHistory.objects.get().events)
    framed = [entry for entry in others if entry["stage"] in ("STEP_ENTER", "STEP_EXIT")]
    assert first["stage"] is None
    assert len(first["steps"]) > 20
    assert len(framed) < len(first["steps"]) / 2


def test_the_view_shows_the_same_events_with_stable_ids(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")

    key = uuid.UUID(caller.conversation_id)
    stored = queries.read_turns(key, [1, 2])
    rows = {row.audit_id: row for row in CeAudit.objects.filter(conversation_id=key)}
    assert rows.keys() == {event.audit_id for event in stored}
    for event in stored:
        row = rows[event.audit_id]
        payload = {name: value for name, value in row.payload_json.items() if name != "_meta"}
        assert (row.stage, row.turn_no, row.seq, row.created_at) == (
            event.stage,
            event.turn_no,
            event.seq,
            event.created_at,
        )
        assert payload == event.payload_json


def test_a_filter_of_the_view_uses_the_index_of_turns(caller: Caller) -> None:
    caller.say("hours")

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        query, params = CeAudit.objects.filter(
            conversation_id=caller.conversation_id, turn_no=1
        ).query.sql_with_params()
        explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
        cursor.execute(f"{explain} {query}", params)
        plan = "\n".join(str(row) for row in cursor.fetchall())
    assert "ce_history_turn" in plan or "ce_history_newest" in plan, plan


def test_readers_see_the_session_of_every_moment(caller: Caller) -> None:
    caller.say("hours")

    events = list(expand_events(queries.read_turns(uuid.UUID(caller.conversation_id), [1])))
    assert events[-1].state["intent"] == "HOURS"
    assert all("_meta" in event.payload for event in events)


def test_the_index_follows_from_the_document(caller: Caller) -> None:
    caller.say("hours")

    row = CeConversationHistory.objects.get()
    stored = read_index_entries([row.turn_id])[row.turn_id]
    assert stored == list_index_entries(read_document(row.events))
    assert any(kind == "ce_response" for kind, _, _ in stored)
    assert any(kind == CeTurnIndex.STAGE for kind, _, _ in stored)


def test_an_untouched_record_is_intact(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")

    assert verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings == []
