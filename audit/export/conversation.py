"""Export a conversation: everything as it is stored, turn by turn, never all of it in memory."""

import uuid
from collections.abc import Iterator
from typing import Any

from audit.export.cells import format_rows
from audit.record.events import StoredEvent
from audit.record.model_calls import read_calls
from audit.record.queries import group_by_turn, read_outside_events, read_turns
from audit.record.turn_index import read_deciding_rows
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.record_columns import answer_text
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
    """The events outside of turns."""
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
    """An event with its payload as it is stored."""
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
