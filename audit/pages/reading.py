"""What the pages of turns read, each in a fixed number of queries."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.http import Http404

from audit.expand import Event, expanded
from audit.models import CeLlmCallLog
from audit.queries import whole_turns
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversationHistory

#: Columns that are large and of no use to a reader.
LARGE = ("recording", "trace_graph")
_OF_CONVERSATION = tuple(
    f"conversation__{name}" for name in ("context_json", "input_params_json", "last_assistant_json")
)


@dataclass(frozen=True)
class Reading:
    """One turn: its record, and its events as whole ones."""

    record: CeConversationHistory
    events: Sequence[Event]

    @property
    def end(self) -> Event | None:
        """The last event that tells of where the turn led; null where none was written."""
        return self.events[-1] if self.events else None

    def last(self, stage: Stage) -> Event | None:
        """The last event of a stage."""
        return next((event for event in reversed(self.events) if event.name == stage), None)


def read_turn(conversation_id: uuid.UUID, turn_no: int) -> Reading:
    """A turn with its events; two queries. Raises Http404."""
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    record = found.select_related("conversation").defer(*LARGE, *_OF_CONVERSATION).first()
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    return Reading(record, list(expanded(whole_turns(conversation_id, [turn_no]))))


class Neighbours(NamedTuple):
    """The numbers of the turns in front of one and behind it, null where there is none."""

    before: int | None
    behind: int | None
    #: The release that the one in front ran on.
    release: int | None


def neighbours(conversation_id: uuid.UUID, turn_no: int) -> Neighbours:
    """The turns beside one; one query."""
    wanted = (turn_no - 1, turn_no + 1)
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=wanted)
    releases = dict(found.values_list("turn_no", "config_version"))
    before, behind = (number if number in releases else None for number in wanted)
    return Neighbours(before, behind, releases.get(turn_no - 1))


def model_calls(reading: Reading) -> list[CeLlmCallLog]:
    """What models were asked in a turn, in order; one query."""
    record = reading.record
    found = CeLlmCallLog.objects.filter(conversation_id=record.conversation_id, turn_no=record.turn_no)
    return list(found.order_by("llm_call_id"))
