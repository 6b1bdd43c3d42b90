"""Export a conversation: as it is stored, never all of it in memory; and for the customer, without internals."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format

from audit.export.cells import format_rows
from audit.narration.reading import Role, read_message_of_turn
from audit.record.events import Event, StoredEvent, expand_events
from audit.record.model_calls import read_calls
from audit.record.queries import group_by_turn, read_outside_events, read_turns
from audit.record.turn_index import read_deciding_rows
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.row_names import name_row
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_REJECTED,
)
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stages import DECISION
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: Turns per read.
BATCH_SIZE = 50
_CSV_COLUMNS = (
    *("turnNo", "startedAt", "status", "userText", "answer", "intent", "state", "errorCode"),
    *("durationMs", "configVersion", "turnId"),
)


def export_json(row: CeConversation) -> Iterator[str]:
    """One JSON document, in pieces."""
    yield f'{{"conversation":{dumps(_conversation_columns(row))},"turns":['
    for index, turn in enumerate(export_turns(row.pk)):
        yield f"{',' if index else ''}{dumps(turn)}"
    yield f'],"outsideOfTurns":{dumps(export_outside_events(row.pk))}}}\n'


def export_lines(row: CeConversation) -> Iterator[str]:
    """One JSON document per line: the conversation, each turn, each event outside of turns."""
    yield dumps({"conversation": _conversation_columns(row)}) + "\n"
    for turn in export_turns(row.pk):
        yield dumps({"turn": turn}) + "\n"
    for event in export_outside_events(row.pk):
        yield dumps({"event": event}) + "\n"


def export_csv(row: CeConversation) -> Iterator[str]:
    """One line per turn with commas: messages, answers, intent and state."""
    yield format_rows([_CSV_COLUMNS])
    for turn in _read_records(row.pk):
        cells = (
            *(turn.turn_no, turn.created_at.isoformat(), turn.status, turn.user_input),
            *(answer_text(turn.assistant_output), turn.intent_code, turn.state_code, turn.error_code),
            *(turn.duration_ms, turn.config_version, turn.turn_id),
        )
        yield format_rows([cells])


def export_turns(key: uuid.UUID) -> Iterator[dict[str, Any]]:
    """Every turn with its events, deciding rows and model calls."""
    records: list[CeConversationHistory] = []
    for record in _read_records(key):
        records.append(record)
        if len(records) == BATCH_SIZE:
            yield from _export_batch(key, records)
            records = []
    yield from _export_batch(key, records)


def export_outside_events(key: uuid.UUID) -> list[dict[str, Any]]:
    return list(map(_event_document, read_outside_events(key)))


def _read_records(key: uuid.UUID) -> Iterator[CeConversationHistory]:
    """The turn records of a conversation in order, read page by page."""
    records = CeConversationHistory.objects.filter(conversation_id=key).order_by("turn_no")
    last = 0
    while page := list(records.filter(turn_no__gt=last)[:BATCH_SIZE]):
        yield from page
        last = page[-1].turn_no


def _export_batch(key: uuid.UUID, records: list[CeConversationHistory]) -> Iterator[dict[str, Any]]:
    """The documents of some turns of a conversation, with one query for each kind of what belongs to them."""
    numbers, ids = [record.turn_no for record in records], [record.turn_id for record in records]
    events, rows, calls = group_by_turn(read_turns(key, numbers)), read_deciding_rows(ids), read_calls(key, numbers)
    for record in records:
        deciding = rows.get(record.turn_id, ())
        more = {
            "events": list(map(_event_document, events.get(record.turn_no, ()))),
            "decidedBy": [{"table": row.table, "row": row.pk, "role": row.role} for row in deciding],
            "modelCalls": [_column_values(call) for call in calls.get(record.turn_no, ())],
        }
        yield {**_column_values(record), **more}


def _conversation_columns(row: CeConversation) -> dict[str, Any]:
    """The columns of a conversation, without those of the lease of its running turn."""
    return {name: value for name, value in _column_values(row).items() if not name.startswith("lease")}


def _event_document(event: StoredEvent) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "stage": event.stage,
        "createdAt": event.created_at.isoformat(),
        "payload": event.payload_json,
    }


def _column_values(row: Any) -> dict[str, Any]:
    """The columns of a row that were loaded; bytes in hexadecimal."""
    values = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if field.attname in vars(row)
    }
    return {
        name: bytes(value).hex() if isinstance(value, (bytes, memoryview)) else value for name, value in values.items()
    }


_OUTCOMES: Mapping[str, str] = {
    PENDING_ACTION_EXECUTED: "Done",
    PENDING_ACTION_FAILED: "Tried, but it failed",
    PENDING_ACTION_REJECTED: "Not done, as you said",
}


def write_customer_copy(records: Sequence[CeConversationHistory]) -> str:
    """What was said, understood and done, as plain text, with a blank line between two turns."""
    if not records:
        return ""
    events: defaultdict[int | None, list[Event]] = defaultdict(list)
    for event in expand_events(read_turns(records[0].conversation_id, [record.turn_no for record in records])):
        events[event.row.turn_no].append(event)
    return "\n\n".join("\n".join(_describe_turn(record, events[record.turn_no])) for record in records)


def _describe_turn(record: CeConversationHistory, events: Sequence[Event]) -> Iterator[str]:
    snapshot: Snapshot = configuration().at(record.config_version or 0)
    yield date_format(timezone.localtime(record.created_at), "j F Y, H:i")
    yield f"You: {record.user_input or '–'}"
    if understood := _list_understood(record, events, snapshot):
        yield f"We understood: {'; '.join(understood)}"
    yield f"Answer: {answer_text(record.assistant_output) or '–'}"
    chosen: Any = None
    for event in events:
        if event.name == DECISION and event.payload.get("kind") == DecisionKind.PENDING_ACTION:
            chosen = event.payload.get("winner")
        elif event.name in _OUTCOMES:
            row = snapshot.row(rows.PendingAction, chosen)
            yield f"{_OUTCOMES[event.name]}: {name_row(rows.PendingAction.table, row) if row else 'an action'}"


def _list_understood(record: CeConversationHistory, events: Sequence[Event], snapshot: Snapshot) -> list[str]:
    """The subject where it changed, and the values that the message gave or was asked about."""
    before = next((event.payload.get("intent") for event in events if event.name == CONVERSATION_LOADED), None)
    is_new = record.intent_code not in (None, UNKNOWN, before)
    subject = [get_intent_name(snapshot, record.intent_code)] if is_new else []
    reading = read_message_of_turn(events, record.user_input, snapshot)
    labels = {Role.TAKEN: "", Role.OFFERED: "perhaps "}
    values = [item for item in reading.values if item.role in labels] if reading else []
    return [*subject, *(f"{labels[item.role]}{item.title}: {item.value or item.text}" for item in values)]
