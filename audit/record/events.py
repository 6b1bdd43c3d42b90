"""The events of stored documents: as they are stored, and whole, with the session of each moment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from audit.record import session_state
from audit.record.step_times import STEPS, unfold_steps
from convengine.engine.pipeline.stages import EVENTS_UNREADABLE
from convengine.engine.stages import WHOLE_META, base_name
from convengine.engine.turn.codec import loads
from convengine.json_value import Json
from convengine.server.database.unreadable import UNREADABLE, read_rows

#: The columns from which events are read.
EVENT_COLUMNS = ("conversation_id", "turn_id", "turn_no", "config_version", "created_at", "events")
#: Ids of events per row of the record: `audit_id` = row × 10,000 + seq.
IDS_PER_ROW = 10_000
#: The columns of a model call, with the types of the view `ce_llm_call_log` on PostgreSQL.
CALL_COLUMNS = {
    "intent_code": "text",
    "state_code": "text",
    "provider": "text",
    "model": "text",
    "temperature": "numeric(3, 2)",
    "prompt_text": "text",
    "user_context": "text",
    "response_text": "text",
    "success": "boolean",
    "error_message": "text",
    "purpose": "text",
    "attempt": "integer",
    "latency_ms": "integer",
    "input_tokens": "integer",
    "output_tokens": "integer",
    "cost": "numeric(18, 9)",
    "template_id": "bigint",
}
#: Why a document cannot be read.
NO_EVENTS, NO_VALUE = "they are not a JSON list of events", "the database cannot read them"
REMEDY = "Run `convengine manage audit_verify`, and restore the row from a backup."


@dataclass
class StoredEvent:
    conversation_id: UUID
    turn_id: UUID | None
    #: Null outside of turns.
    turn_no: int | None
    config_version: int | None
    seq: int
    stage: str
    payload_json: dict[str, Json]
    created_at: datetime
    step: str | None = None
    #: The whole session, if the event begins a document; and what the event changed.
    session: Mapping[str, Json] | None = None
    changed: Mapping[str, Json] = field(default_factory=dict)
    #: The row of the record; None while the turn runs, and in a replay.
    record_id: int | None = None

    @property
    def audit_id(self) -> int | None:
        """The id of the event in the view `ce_audit`."""
        return None if self.record_id is None else self.record_id * IDS_PER_ROW + self.seq


@dataclass(frozen=True)
class Event:
    """An event with resolved references and the state of the turn."""

    row: StoredEvent
    payload: dict[str, Json]
    #: The state of the turn at this event.
    state: Mapping[str, Json]
    step: str | None
    #: What the event changed in the session.
    changed: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The stage without its source."""
        return base_name(self.row.stage)


def read_document(text: str | None) -> list[dict[str, Json]]:
    """The entries of a stored document; none if it was removed. EVENTS_UNREADABLE, with number 0, stands for damage."""
    stored = parse_entries(text)
    entries = [entry for entry in stored or () if _is_entry(entry)]
    if stored is not None and len(entries) == len(stored):
        return entries
    payload = {"reason": NO_VALUE if text == UNREADABLE else NO_EVENTS, "remedy": REMEDY}
    return [{"seq": 0, "stage": str(EVENTS_UNREADABLE), "step": None, "ms": 0, "payload": payload}, *entries]


def parse_entries(text: str | None) -> list[Json] | None:
    """The entries of a stored document, with its steps as events. Returns None if the text is not a JSON list."""
    stored = parse_stored(text)
    return None if stored is None else unfold_steps(stored)


def parse_stored(text: str | None) -> list[Json] | None:
    """The entries of a stored document as they are. Returns None if the text is not a JSON list."""
    try:
        entries = loads(text) if text else []
    except ValueError:
        return None
    return entries if isinstance(entries, list) else None


def _is_entry(entry: Json) -> bool:
    """True for an entry with the types that readers rely on."""
    return (
        isinstance(entry, dict)
        and STEPS not in entry
        and type(entry.get("seq")) is int
        and isinstance(entry.get("stage"), str | None)
        and isinstance(entry.get("payload"), dict | None)
        and isinstance(entry.get("ms"), int | float | None)
        and isinstance(entry.get("session"), dict | None)
        and ("changed" not in entry or _is_change(entry["changed"]))
        and ("rows" not in entry or all(_is_row(row) for row in _list_items(entry["rows"])))
        and ("calls" not in entry or all(_is_call(call) for call in _list_items(entry["calls"])))
    )


def _list_items(value: Json) -> list[Json]:
    """The items of a list; for anything else, one None."""
    return value if isinstance(value, list) else [None]


def _is_change(change: Json) -> bool:
    if not isinstance(change, dict) or not isinstance(change.get("set"), dict | None):
        return False
    return all(isinstance(pointer, str) for pointer in _list_items(change.get("unset") or []))


def _is_row(row: Json) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row)


def _is_call(call: Json) -> bool:
    """True for a model call with a number, a readable time, and all columns of the view."""
    if not isinstance(call, dict) or not CALL_COLUMNS.keys() <= call.keys() or type(call.get("no")) is not int:
        return False
    try:
        datetime.fromisoformat(call["created_at"])
    except (KeyError, TypeError, ValueError):
        return False
    return True


def list_events(row: Any, entries: Iterable[Mapping[str, Json]], record_id: int | None = None) -> Iterator[StoredEvent]:
    """The events of a row of the record, which has the number `record_id`, or of anything with its columns.

    What an entry without a stage says about the session goes to the next event.
    """
    session: Mapping[str, Json] | None = None
    changed: Mapping[str, Json] = {}
    for entry in entries:
        if entry.get("session") is not None:
            session, changed = entry["session"], {}
        changed = session_state.merge_changes(changed, entry["changed"]) if "changed" in entry else changed
        if entry.get("stage"):
            yield StoredEvent(
                row.conversation_id,
                row.turn_id,
                row.turn_no,
                row.config_version,
                int(entry["seq"]),
                str(entry["stage"]),
                entry.get("payload") or {},
                row.created_at + timedelta(milliseconds=entry.get("ms") or 0),
                entry.get("step"),
                session,
                changed,
                record_id,
            )
            session, changed = None, {}


def read_events(rows: Iterable[Any]) -> Iterator[StoredEvent]:
    """The events of rows of the record, in their order. In a query, a value that cannot be read stops nothing."""
    for row in read_rows(rows) if isinstance(rows, QuerySet) else rows:
        yield from list_events(row, read_document(row.events), row.pk)


def expand_events(rows: Iterable[StoredEvent], full_meta: bool = False) -> Iterator[Event]:
    """Whole events from stored ones, which must come turn by turn, each turn from its first event.

    With `full_meta` every event that has `_meta` has params, context and session in it. Events of a turn whose session
    is not stored have no `_meta`.
    """
    turn_no: int | None = None
    state: Mapping[str, Json] = {}
    has_meta = False
    for row in rows:
        if row.turn_no != turn_no or not state:
            turn_no, state, has_meta = row.turn_no, session_state.build_empty_document(), False
        before, changed = state, row.changed
        if row.session is not None:
            state, has_meta = row.session, True
        if changed:
            state = session_state.apply_change(state, changed)
        if row.session is not None:
            changed = session_state.diff_documents(before, state)
        payload = session_state.expand_references(row.payload_json, state)
        if has_meta:
            payload["_meta"] = _build_meta(row, state, changed, full_meta)
        yield Event(row, payload, state, row.step, changed)


def expand_alone(rows: Iterable[StoredEvent]) -> Iterator[Event]:
    """Expand events outside of turns, each by itself."""
    for row in rows:
        yield from expand_events([row])


def _build_meta(
    row: StoredEvent, state: Mapping[str, Json], changed: Mapping[str, Json], full_meta: bool
) -> dict[str, Json]:
    """The `_meta` of an event. With `full_meta`, and for stages that always have it, with params, context and session.

    Those stages do not have the changes.
    """
    meta = {
        "stage": row.stage,
        "conversationId": str(row.conversation_id),
        "turnId": str(row.turn_id) if row.turn_id else None,
        "turnNo": row.turn_no,
        "seq": row.seq,
        "emittedAt": row.created_at.isoformat(),
        "intent": state.get("intent"),
        "state": state.get("state"),
        "configVersion": row.config_version,
        "step": row.step,
    }
    if base_name(row.stage) in WHOLE_META:
        return {**meta, **_large_parts(state)}
    change = {"changed": changed} if changed else {}
    return {**meta, **change, **(_large_parts(state) if full_meta else {})}


def _large_parts(state: Mapping[str, Json]) -> dict[str, Json]:
    """The params, the context and the session facts of a state."""
    return {
        "inputParams": session_state.read_folded(state, "inputParams"),
        "userInputParams": state.get("userInputParams") or {},
        "contextDict": session_state.read_folded(state, "context"),
        "session": session_state.read_folded(state, "session"),
    }
