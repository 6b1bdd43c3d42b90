"""What the trail says of some turns of a session at one look: how it moved, and which rows decided."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q

from audit.models import CeAudit, CeTurnRow
from convengine.domain.enums import Lifecycle, TurnStatus
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversationHistory

#: Turns that left the session as it was.
_UNDONE = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
#: Moves outside of turns are few: an end by time or by a call, and openings anew.
_OUTSIDE = 100


class Move(NamedTuple):
    """One move of a session's lifecycle."""

    at: datetime
    start: str
    end: str
    reason: str
    turn_no: int


class Decider(NamedTuple):
    """A configuration row that decided something in a turn."""

    role: str
    table: str
    pk: str


def moves(conversation_id: uuid.UUID, first: int, last: int) -> list[Move]:
    """The moves in the turns from `first` to `last`, and behind each of them, in their order. Two queries.

    What a turn did that was not stored never came to be: of such a turn only counts that it was interrupted.
    """
    found = CeAudit.objects.filter(conversation_id=conversation_id, stage=Stage.SESSION_LIFECYCLE.value)
    # In the order of the index by turn, which finds them among all the events of these turns.
    of_turn = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=OuterRef("turn_no"))
    undone = Exists(of_turn.filter(status__in=_UNDONE)) & ~Q(payload_json__to=Lifecycle.INTERRUPTED.value)
    inside = found.filter(~undone, turn_no__gte=first, turn_no__lte=last).order_by("turn_no", "seq")
    outside = found.filter(turn_no=None).order_by("-created_at")[:_OUTSIDE]
    told = [_move(event) for event in (*inside, *reversed(outside))]
    # What happened outside of turns names the last turn before it. A sort keeps the order of the events of one turn.
    return sorted((one for one in told if first <= one.turn_no <= last), key=lambda one: (one.turn_no, one.at))


def _move(event: CeAudit) -> Move:
    told = event.payload_json
    turn_no = event.turn_no if event.turn_no is not None else int(told.get("turn_no") or 0)
    return Move(event.created_at, str(told.get("from")), str(told.get("to")), str(told.get("reason")), turn_no)


def deciders(turn_ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, list[Decider]]:
    """The rows that decided each turn, in the order in which they did. One query."""
    found: dict[uuid.UUID, list[Decider]] = defaultdict(list)
    for row in CeTurnRow.objects.filter(turn_id__in=list(turn_ids)).order_by("id"):
        found[row.turn_id].append(Decider(row.role, row.table_name, row.row_pk))
    return found
