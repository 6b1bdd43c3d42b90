"""The pieces of stored rows for seals."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from audit.record.seal.pieces import CALL, encode_calls, encode_deciding_rows, encode_event, group_of, microseconds
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.seal import CALLS, DECIDED, EVENTS, PROMPTS, STEPS, Pieces

#: The groups of events.
OF_EVENTS = (STEPS, PROMPTS, EVENTS)
_EVENT = ("seq", "stage", "created_at", "payload_json")


class Piece(NamedTuple):
    """The sealed form of an event."""

    seq: int
    stage: str
    group: str
    at: int
    payload: bytes

    @property
    def sealed(self) -> bytes:
        """The sealed bytes."""
        return encode_event(self.seq, self.stage, self.at, self.payload)


def event_pieces(rows: Iterable[tuple[int, str, datetime, Any]]) -> list[Piece]:
    """Events (seq, stage, time, payload) in the order of their numbers."""
    ordered = sorted(rows, key=lambda row: row[0])
    payloads = dump_in_order([row[3] for row in ordered])[1]
    return [
        Piece(seq, stage, group_of(stage), microseconds(at), payload)
        for (seq, stage, at, _), payload in zip(ordered, payloads, strict=True)
    ]


def group_pieces(events: Sequence[Piece]) -> Pieces:
    """The pieces of events, by group."""
    return {group: [event.sealed for event in events if event.group == group] for group in OF_EVENTS}


def read_deciding_pieces(turn_id: uuid.UUID) -> list[bytes]:
    """The pieces of a turn's deciding rows."""
    columns = ("table_name", "row_pk", "role", "created_at")
    return encode_deciding_rows(CeTurnRow.objects.filter(turn_id=turn_id).order_by("id").values_list(*columns))


def read_call_pieces(conversation_id: uuid.UUID, turn_id: uuid.UUID | None) -> list[bytes]:
    """The pieces of a turn's logged model calls."""
    calls = CeLlmCallLog.objects.filter(conversation_id=conversation_id, turn_id=turn_id)
    return encode_calls(calls.order_by("llm_call_id").values(*CALL))


def read_turn_pieces(conversation_id: uuid.UUID, turn_id: uuid.UUID, turn_no: int) -> tuple[int, Pieces]:
    """All stored data of a turn besides its record, and the number of its last event."""
    rows = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no).values_list(*_EVENT)
    events = event_pieces(rows)
    pieces = {
        **group_pieces(events),
        DECIDED: read_deciding_pieces(turn_id),
        CALLS: read_call_pieces(conversation_id, turn_id),
    }
    return events[-1].seq if events else 0, pieces
