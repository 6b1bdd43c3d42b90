"""The lifecycle changes and the deciding rows of some turns of a session."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import Exists, OuterRef, Q

from audit.models import CeAudit, CeTurnRow
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.server.app_interfaces import DecidingRow, LifecycleMove
from convengine.server.sessions.models import CeConversationHistory

#: Turns that left the session unchanged.
_UNDONE = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
#: Changes outside of turns are few: an end by time or by a call, and reopenings.
_OUTSIDE = 100


def list_moves(conversation_id: uuid.UUID, first: int, last: int) -> list[LifecycleMove]:
    """The changes in the turns from `first` to `last`, and after each of them, in order. Two queries.

    A turn that was not stored changed nothing, except that it may have been interrupted.
    """
    events = CeAudit.objects.filter(conversation_id=conversation_id, stage=SESSION_LIFECYCLE)
    # In the order of the index by turn.
    of_turn = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=OuterRef("turn_no"))
    undone = Exists(of_turn.filter(status__in=_UNDONE)) & ~Q(payload_json__to=Lifecycle.INTERRUPTED.value)
    inside = events.filter(~undone, turn_no__gte=first, turn_no__lte=last).order_by("turn_no", "seq")
    outside = events.filter(turn_no=None).order_by("-created_at")[:_OUTSIDE]
    moves = [_parse_move(event) for event in (*inside, *reversed(outside))]
    # An event outside of turns names the last turn before it. The sort is stable.
    return sorted((move for move in moves if first <= move.turn_no <= last), key=lambda move: (move.turn_no, move.at))


def _parse_move(event: CeAudit) -> LifecycleMove:
    payload = event.payload_json
    turn_no = event.turn_no if event.turn_no is not None else int(payload.get("turn_no") or 0)
    return LifecycleMove(
        event.created_at, str(payload.get("from")), str(payload.get("to")), str(payload.get("reason")), turn_no
    )


def list_deciding_rows(turn_ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, list[DecidingRow]]:
    """The deciding rows of each turn, in order. One query."""
    by_turn: dict[uuid.UUID, list[DecidingRow]] = defaultdict(list)
    for row in CeTurnRow.objects.filter(turn_id__in=list(turn_ids)).order_by("id"):
        by_turn[row.turn_id].append(DecidingRow(row.role, row.table_name, row.row_pk))
    return by_turn
