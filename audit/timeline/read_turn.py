"""The data of the turn pages, each in a fixed number of queries."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.http import Http404

from audit.models import CeLlmCallLog
from audit.record.events import Event, expand_events
from audit.record.model_calls import read_calls
from audit.record.queries import read_turns
from convengine.server.sessions.models import CeConversationHistory

_OF_CONVERSATION = tuple(
    f"conversation__{name}" for name in ("context_json", "input_params_json", "last_assistant_json")
)


@dataclass(frozen=True)
class TurnReading:
    """One turn: its record, and its whole events."""

    record: CeConversationHistory
    events: Sequence[Event]


def read_turn(conversation_id: uuid.UUID, turn_no: int) -> TurnReading:
    """A turn with its events; two queries. Raises Http404."""
    record = read_record(conversation_id, turn_no)
    return TurnReading(record, list(expand_events(read_turns(conversation_id, [turn_no]))))


def read_record(conversation_id: uuid.UUID, turn_no: int) -> CeConversationHistory:
    """The record of a turn; one query. Raises Http404."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    record = turns.select_related("conversation").defer(*_OF_CONVERSATION).first()
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    return record


class Neighbours(NamedTuple):
    """The numbers of the turns before and after one, None where there is no such turn."""

    before: int | None
    behind: int | None
    #: The release of the one before.
    release: int | None


def read_neighbours(conversation_id: uuid.UUID, turn_no: int) -> Neighbours:
    """The turns beside one; one query."""
    wanted = (turn_no - 1, turn_no + 1)
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=wanted)
    releases = dict(turns.values_list("turn_no", "config_version"))
    before, behind = (number if number in releases else None for number in wanted)
    return Neighbours(before, behind, releases.get(turn_no - 1))


def read_model_calls(reading: TurnReading) -> list[CeLlmCallLog]:
    """The model calls of a turn, in order; one query."""
    record = reading.record
    return read_calls(record.conversation_id, [record.turn_no or 0]).get(record.turn_no or 0, [])
