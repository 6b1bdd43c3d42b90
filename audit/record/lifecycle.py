"""The lifecycle changes of a session, from the events of its turns."""

import uuid

from audit.record.events import EVENT_COLUMNS, StoredEvent, read_events
from audit.record.turn_index import has_stage
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.turn_reader import LifecycleMove
from convengine.server.sessions.models import CeConversationHistory

#: Turns that left the session unchanged.
_UNDONE = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
#: Changes outside of turns are few: an end by time or by a call, and reopenings.
_OUTSIDE = 100


def list_moves(conversation_id: uuid.UUID, first: int, last: int) -> list[LifecycleMove]:
    """The changes in the turns from `first` to `last`, and after each of them, in order. Two queries.

    Of the changes outside of turns, those among the newest 100 additions are read. A turn that failed or was
    interrupted changed nothing, except that it may have become INTERRUPTED.
    """
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__gte=first, turn_no__lte=last)
    # The index knows which of the turns changed it.
    changing = read_rows(
        turns.filter(has_stage(SESSION_LIFECYCLE)).defer(None).only(*EVENT_COLUMNS, "status").order_by("turn_no")
    )
    undone = {row.turn_no for row in changing if row.status in _UNDONE}
    inside = [
        move
        for event in read_events(changing)
        if event.stage == SESSION_LIFECYCLE
        and ((move := _parse_move(event)).turn_no not in undone or move.end == Lifecycle.INTERRUPTED.value)
    ]
    additions = CeConversationHistory.additions.filter(conversation_id=conversation_id, turn_no=None)
    newest = read_rows(additions.defer(None).only(*EVENT_COLUMNS).order_by("-history_id")[:_OUTSIDE])
    outside = [_parse_move(event) for event in read_events(reversed(newest)) if event.stage == SESSION_LIFECYCLE]
    # An event outside of turns names the last turn before it. The sort is stable.
    fitting = (move for move in (*inside, *outside) if first <= move.turn_no <= last)
    return sorted(fitting, key=lambda move: (move.turn_no, move.at))


def _parse_move(event: StoredEvent) -> LifecycleMove:
    """The change in an event. Outside of turns, its payload names the turn before it."""
    payload = event.payload_json
    turn_no = event.turn_no if event.turn_no is not None else int(payload.get("turn_no") or 0)
    return LifecycleMove(
        event.created_at, str(payload.get("from")), str(payload.get("to")), str(payload.get("reason")), turn_no
    )
