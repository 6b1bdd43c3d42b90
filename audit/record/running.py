"""Events of running turns: written after each step if AUDIT/FLUSH is STEP or somebody watches.

One short transaction each, and only while the turn has its lease. The turn's commit deletes them; who takes over an
expired lease makes the record from them.
"""

import uuid

from audit.models import CeRunningEvent
from audit.record.document import encode_turn
from audit.record.events import StoredEvent, list_events, read_document
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import Statement, dialect, execute


def flush_events(turn: Turn, token: str, after_seq: int) -> bool:
    """Store the events after `after_seq`. Returns False, and stores nothing, when the lease was lost.

    Needs an open transaction.
    """
    document = encode_turn(turn, after_seq, continued=after_seq > 0)
    sql = dialect()
    insert = Statement(
        """INSERT INTO ce_running_event
    (conversation_id, lease_token, turn_id, turn_no, config_version, created_at, last_seq, events)
SELECT conversation_id, lease_token, %s, %s, %s, %s, %s, %s FROM ce_conversation
 WHERE conversation_id = %s AND lease_token = %s""",
        [
            sql.uuid_param(turn.turn_id),
            turn.turn_no,
            turn.snapshot.config_version,
            sql.time_param(turn.ports.clock.now()),
            len(turn.trail.events),
            document.text,
            sql.uuid_param(turn.request.conversation_id),
            sql.uuid_param(token),
        ],
    )
    return execute(insert)


def delete_running_stmt(token: str) -> Statement:
    """Delete the events that were stored under a lease, which is that of one turn."""
    return Statement("DELETE FROM ce_running_event WHERE lease_token = %s", [dialect().uuid_param(token)])


def read_running_events(conversation_id: uuid.UUID, turn_no: int | None = None) -> list[StoredEvent]:
    """The stored events of the running turn of a conversation so far; with `turn_no`, only if it is that turn."""
    parts = CeRunningEvent.objects.filter(conversation_id=conversation_id).order_by("id")
    if turn_no is not None:
        parts = parts.filter(turn_no=turn_no)
    return [event for part in parts for event in list_events(part, read_document(part.events))]


def read_running_entries(turn_id: uuid.UUID) -> list[dict[str, Json]]:
    """The entries of a turn that does not run any more."""
    parts = CeRunningEvent.objects.filter(turn_id=turn_id).order_by("id")
    return [entry for part in parts for entry in read_document(part.events)]
