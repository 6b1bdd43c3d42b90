"""A conversation to take along: everything as it is stored, turn by turn, never all of it in memory."""

import csv
import io
import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from audit.queries import whole_turns
from convengine.codec import dumps
from convengine.record_columns import spoken
from convengine.sessions.models import CeConversation, CeConversationHistory

#: Turns that are read at one go.
TURNS = 50
_TABLE = (
    *("turnNo", "startedAt", "status", "userText", "answer", "intent", "state", "errorCode"),
    *("durationMs", "configVersion", "turnId"),
)
#: What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_json(row: CeConversation) -> Iterator[str]:
    """One JSON document, piece by piece."""
    yield f'{{"conversation":{dumps(_conversation(row))},"turns":['
    for place, turn in enumerate(turns(row.pk)):
        yield f"{',' if place else ''}{dumps(turn)}"
    yield f'],"outsideOfTurns":{dumps(outside(row.pk))}}}\n'


def as_lines(row: CeConversation) -> Iterator[str]:
    """One JSON document a line: the conversation, each turn, each event outside of turns."""
    yield dumps({"conversation": _conversation(row)}) + "\n"
    for turn in turns(row.pk):
        yield dumps({"turn": turn}) + "\n"
    for event in outside(row.pk):
        yield dumps({"event": event}) + "\n"


def as_table(row: CeConversation) -> Iterator[str]:
    """One line a turn, with commas between: what was said, and where it led."""
    yield _line(_TABLE)
    for turn in _records(row.pk):
        yield _line(
            (
                turn.turn_no,
                turn.created_at.isoformat(),
                turn.status,
                turn.user_input or "",
                spoken(turn.assistant_output),
                turn.intent_code,
                turn.state_code,
                turn.error_code or "",
                turn.duration_ms,
                turn.config_version,
                turn.turn_id,
            )
        )


def turns(key: uuid.UUID) -> Iterator[dict[str, Any]]:
    """Every turn with its events, the rows that decided it, and its model calls."""
    records: list[CeConversationHistory] = []
    for record in _records(key):
        records.append(record)
        if len(records) == TURNS:
            yield from _whole(key, records)
            records = []
    yield from _whole(key, records)


def outside(key: uuid.UUID) -> list[dict[str, Any]]:
    """The events outside of turns."""
    return [_event(event) for event in CeAudit.objects.filter(conversation_id=key, turn_no=None).order_by("seq")]


def _records(key: uuid.UUID) -> Iterator[CeConversationHistory]:
    found = CeConversationHistory.objects.filter(conversation_id=key).defer("recording").order_by("turn_no")
    last = 0
    while page := list(found.filter(turn_no__gt=last)[:TURNS]):
        yield from page
        last = page[-1].turn_no


def _whole(key: uuid.UUID, records: list[CeConversationHistory]) -> Iterator[dict[str, Any]]:
    numbers, ids = [one.turn_no for one in records], [one.turn_id for one in records]
    events, rows, calls = defaultdict(list), defaultdict(list), defaultdict(list)
    for event in whole_turns(key, numbers):
        events[event.turn_no].append(_event(event))
    for row in CeTurnRow.objects.filter(turn_id__in=ids).order_by("id"):
        rows[row.turn_id].append({"table": row.table_name, "row": row.row_pk, "role": row.role})
    for call in CeLlmCallLog.objects.filter(conversation_id=key, turn_no__in=numbers).order_by("llm_call_id"):
        calls[call.turn_no].append(_values(call))
    for record in records:
        more = {
            "events": events[record.turn_no],
            "decidedBy": rows[record.turn_id],
            "modelCalls": calls[record.turn_no],
        }
        yield {**_values(record), **more}


def _conversation(row: CeConversation) -> dict[str, Any]:
    return {name: value for name, value in _values(row).items() if not name.startswith("lease")}


def _event(event: CeAudit) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "stage": event.stage,
        "createdAt": event.created_at.isoformat(),
        "payload": event.payload_json,
    }


def _values(row: Any) -> dict[str, Any]:
    """The columns of a row; bytes in hexadecimal."""
    found = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if field.attname in vars(row)
    }
    return {
        name: bytes(value).hex() if isinstance(value, (bytes, memoryview)) else value for name, value in found.items()
    }


def _line(cells: Any) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([f"'{cell}" if str(cell).startswith(_FORMULA) else cell for cell in cells])
    return out.getvalue()
