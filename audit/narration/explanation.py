"""A turn as lines of text: what happened, and why; and the gaps in answers."""

import uuid
from collections.abc import Iterator, Sequence

from audit.models import CeTurnIndex
from audit.narration import narrate_turn
from audit.narration.decisions import NarratedCandidate, list_reasons
from audit.record.document import list_unstored_events
from audit.record.events import EVENT_COLUMNS, Event, expand_events, read_events
from audit.record.queries import read_turns
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stages import TEMPLATE_VALUE_EMPTY
from convengine.engine.turn.turn import Turn
from convengine.server.interfaces.turn_reports import EmptyValue
from convengine.server.sessions.models import CeConversationHistory, CeExtensionFault

#: How much of a traceback is shown: the last calls.
_TRACEBACK_LINES = 7


def explain_turn(conversation_id: uuid.UUID, turn_no: int) -> list[str]:
    """The narration of a turn, then its decisions with the rows that won, and those that were tested and lost, then the
    exceptions of extensions.
    """
    events = list(expand_events(read_turns(conversation_id, [turn_no])))
    return [*_explain_events(events), *_list_exceptions(conversation_id, turn_no)]


def explain_unstored_turn(turn: Turn) -> list[str]:
    """Explain a turn that was only tried and not stored: its narration, then its decisions."""
    return _explain_events(list(expand_events(list_unstored_events(turn))), turn.snapshot)


def _explain_events(events: list[Event], release: Snapshot | None = None) -> list[str]:
    return [*(sentence.text for sentence in narrate_turn(events, release)), *describe_reasons(events, release)]


def describe_reasons(events: Sequence[Event], release: Snapshot | None = None) -> list[str]:
    """The decisions of a turn as `list_reasons` gives them, each in a line, and the rows that lost in further ones."""
    lines = []
    for reason in list_reasons(events, release):
        winners = "; ".join(map(_name_row, reason.winners)) or reason.without_winner
        lines += [f"{reason.subject}: {winners}", *(f"  not {_name_row(row)}: {row.reason}" for row in reason.losers)]
    return lines


def _list_exceptions(conversation_id: uuid.UUID, turn_no: int) -> Iterator[str]:
    """The exceptions of extensions, with the ends of their tracebacks."""
    faults = CeExtensionFault.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    for fault in faults.order_by("id"):
        yield f"{fault.label} {fault.name} raised:"
        yield from (f"  {line}" for line in fault.traceback.splitlines()[-_TRACEBACK_LINES:])


def _name_row(row: NarratedCandidate) -> str:
    return f"{row.about or row.title or row.table} ({row.table} {row.pk})"


def list_empty_values(limit: int) -> list[EmptyValue]:
    """The gaps in the answers of the newest turns with some, newest turn first; at most `limit` turns are read."""
    of_stage = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value=TEMPLATE_VALUE_EMPTY).order_by("-at")
    turn_ids = list(of_stage.values_list("turn_id", flat=True)[:limit])
    turns = CeConversationHistory._base_manager.filter(turn_id__in=turn_ids).only(*EVENT_COLUMNS)
    gaps = []
    for event in read_events(turns.order_by("-created_at")):
        payload = event.payload_json
        if event.stage == TEMPLATE_VALUE_EMPTY and isinstance(payload.get("names"), list):
            names = tuple(map(str, payload["names"]))
            gaps.append(EmptyValue(str(payload.get("table")), payload.get("row"), names, event.config_version or 0))
    return gaps
