"""Store a turn: encode its events, seal its row, and insert the row with its index, in the turn's own commit."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from audit.record.document import Document, encode_turn
from audit.record.document_parts import encode_document
from audit.record.form_steps import Step, list_steps
from audit.record.model_calls import add_up_costs, list_calls
from audit.record.running import read_running_entries
from audit.record.turn_index import hash_entries, insert_index_stmts, list_index_entries
from audit.seal import Seal, encode_parts_with
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.params import select_turn_facts
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import Dialect, Statement, dialect
from convengine.server.deployment.request_id import current_request_id
from convengine.server.interfaces.turn_log import TurnRecord

#: The statements of a row and its index, and the hash of the row's seal.
SealedRow = tuple[list[Statement], bytes]


def insert_turn_stmts(turn: Turn, record: TurnRecord, previous: bytes | None) -> SealedRow:
    """The row of a turn that ran. Its seal covers the row and `previous`, the seal before it."""
    session, error, redaction = record.session, record.error, Redaction.of(turn.snapshot)
    before = turn.ports.conversations.load().conversation
    header = {
        "conversation_id": uuid.UUID(session.conversation_id),
        "turn_id": uuid.UUID(turn.turn_id),
        "turn_no": turn.turn_no,
        "created_at": turn.ports.clock.now(),
        "status": record.status.value,
        "source": record.source,
        "error_code": error.code if error else None,
        "error_message": redaction.text(error.message) if error else None,
        "intent_before": before.intent_code,
        "state_before": before.state_code,
        "intent_code": session.intent or "UNKNOWN",
        "state_code": session.state or "UNKNOWN",
        "config_version": turn.snapshot.config_version,
        "duration_ms": int(turn.ports.clock.elapsed_ms()),
        "context_epoch": session.epoch,
        "replayable": record.replay_note is None,
        "replay_note": record.replay_note,
        "user_input": session.user_text,
        "assistant_output": None if error else session.last_assistant,
        "facts": redaction.caller_data(select_turn_facts(session.input_params)),
        "recording": record.recording,
        "last_seq": len(turn.trail.events),
    }
    return _insert_row_stmts(header, encode_turn(turn), previous, turn.snapshot.content_hash, list_steps(turn))


def insert_dead_turn_stmts(
    header: Mapping[str, Json],
    events: Sequence[tuple[Stage, Mapping[str, Json]]],
    now: datetime,
    previous: bytes | None,
    release: str,
) -> SealedRow:
    """The same for a turn whose process died, from the events that it stored while it ran; `events` end it.

    `release` is the content hash of its release.
    """
    entries = read_running_entries(header["turn_id"])
    at_ms = max(int((now - header["created_at"]).total_seconds() * 1000), 0)
    has_input = any(entry["stage"] == USER_INPUT for entry in entries)
    for stage, payload in events:
        if not (has_input and stage == USER_INPUT):
            seq = entries[-1]["seq"] + 1 if entries else 1
            entries.append({"seq": seq, "stage": str(stage), "step": None, "ms": at_ms, "payload": dict(payload)})
    text, parts = encode_document(entries)
    row = {**header, "last_seq": entries[-1]["seq"] if entries else 0}
    return _insert_row_stmts(row, Document(text, entries, parts), previous, release)


def _insert_row_stmts(
    header: Mapping[str, Json], document: Document, previous: bytes | None, release: str, steps: Sequence[Step] = ()
) -> SealedRow:
    """The row from its columns and its document, sealed, and its index."""
    sql = dialect()
    calls, index_entries = list_calls(document.entries), list_index_entries(document.entries, steps)
    row: dict[str, Json] = {
        **header,
        "events": document.text,
        "index_hash": hash_entries(index_entries),
        "model_calls": len(calls),
        "cost": add_up_costs(call["cost"] for call in calls) if calls else None,
        "audit_incomplete": bool(document.lost_events),
    }
    (answer, facts), hashed = dump_in_order([row.pop("assistant_output"), row.pop("facts")])
    seal = Seal.create(previous, encode_parts_with(row, hashed, release, document.parts))
    row |= {"assistant_output": _json_or_null(answer), "facts": _json_or_null(facts), "seal": seal.to_bytes()}
    # Not sealed: it names the call, and says nothing of the turn.
    row["request_id"] = current_request_id()
    # A column without a value is not named: the driver keeps what it read of a statement of up to fifty parameters.
    row = {name: value for name, value in row.items() if value is not None}
    values = {name: "%s" if name not in ("assistant_output", "facts") else sql.json for name in row}
    values["modified_at"] = sql.now()
    insert = Statement(
        f"INSERT INTO ce_conversation_history ({', '.join(values)}) VALUES ({', '.join(values.values())})",
        [_adapt(value, sql) for value in row.values()],
    )
    return [insert, *insert_index_stmts(header["turn_id"], header["created_at"], index_entries)], seal.hash


def _json_or_null(text: bytes) -> str | None:
    return None if text == b"null" else text.decode()


def _adapt(value: Json, sql: Dialect) -> Json:
    """A column's value as a parameter."""
    if isinstance(value, uuid.UUID):
        return sql.uuid_param(value)
    if isinstance(value, datetime):
        return sql.time_param(value)
    return sql.decimal_param(value) if isinstance(value, Decimal) else value
