"""Stored rows as the pieces that seals are over."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from audit.chain.pieces import CALL, event, group_of, microseconds, of_calls, of_deciding
from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from convengine.codec import in_order
from convengine.domain.chain import CALLS, DECIDED, EVENTS, PROMPTS, STEPS, Pieces

#: The groups that are made of events.
OF_EVENTS = (STEPS, PROMPTS, EVENTS)
_EVENT = ("seq", "stage", "created_at", "payload_json")


class Piece(NamedTuple):
    """An event as its seal sees it."""

    seq: int
    stage: str
    group: str
    at: int
    payload: bytes

    @property
    def sealed(self) -> bytes:
        """The bytes that are sealed."""
        return event(self.seq, self.stage, self.at, self.payload)


def events_of(rows: Iterable[tuple[int, str, datetime, Any]]) -> list[Piece]:
    """Events (seq, stage, time, payload) in the order of their numbers."""
    found = sorted(rows, key=lambda row: row[0])
    payloads = in_order([row[3] for row in found])[1]
    return [
        Piece(seq, stage, group_of(stage), microseconds(at), payload)
        for (seq, stage, at, _), payload in zip(found, payloads, strict=True)
    ]


def by_group(events: Sequence[Piece]) -> Pieces:
    """The pieces of events, by group."""
    return {group: [one.sealed for one in events if one.group == group] for group in OF_EVENTS}


def deciding(turn_id: uuid.UUID) -> list[bytes]:
    """The pieces of the rows that decided a turn."""
    columns = ("table_name", "row_pk", "role", "created_at")
    return of_deciding(CeTurnRow.objects.filter(turn_id=turn_id).order_by("id").values_list(*columns))


def calls(conversation_id: uuid.UUID, turn_id: uuid.UUID | None) -> list[bytes]:
    """The pieces of the logged model calls of a turn."""
    found = CeLlmCallLog.objects.filter(conversation_id=conversation_id, turn_id=turn_id)
    return of_calls(found.order_by("llm_call_id").values(*CALL))


def of_turn(conversation_id: uuid.UUID, turn_id: uuid.UUID, turn_no: int) -> tuple[int, Pieces]:
    """Everything that is stored of a turn beside its record, and the number of its last event."""
    rows = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no).values_list(*_EVENT)
    events = events_of(rows)
    found = {**by_group(events), DECIDED: deciding(turn_id), CALLS: calls(conversation_id, turn_id)}
    return events[-1].seq if events else 0, found
