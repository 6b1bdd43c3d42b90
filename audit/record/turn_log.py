"""Write the rows of the record, each with its document, its seal and its index: in the turn's own commit, or after it.

Events outside of turns, and later events of a turn, get a row of their own: an ADDITION. The additions of a
conversation are a chain of their own.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Max

from audit.record.document import TurnDocument, encode_turn
from audit.record.form_steps import FormProgress, list_steps
from audit.record.model_calls import add_up_costs, list_calls
from audit.record.running import read_running_entries
from audit.record.step_times import fold_steps
from audit.record.turn_index import hash_entries, insert_index_stmt, list_index_entries
from audit.seal import SEALED, Seal, encode_parts_with, read_seal
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.params import select_turn_facts
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import Dialect, Statement, dialect, execute
from convengine.server.deployment.request_id import current_request_id
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import TurnRecord
from convengine.server.sessions.models import ADDITION, CeConversation, CeConversationHistory

#: The statements of a row and its index, and the hash of the row's seal.
SealedRow = tuple[list[Statement], bytes]
#: An event outside of turns: conversation, stage, payload.
OutsideEvent = tuple[str, Stage, Mapping[str, Any]]
_NO_VALUES: Mapping[str, Json] = dict.fromkeys(SEALED)
_ADDITION: Mapping[str, Json] = {
    "status": ADDITION,
    "source": ADDITION,
    "intent_code": "UNKNOWN",
    "state_code": "UNKNOWN",
    "context_epoch": 0,
    "replayable": False,
}


def insert_turn_stmts(turn: Turn, record: TurnRecord, previous: bytes | None) -> SealedRow:
    """The row of a turn that ran. Its seal covers the row and `previous`, the seal before it."""
    session, error, redaction = record.session, record.error, Redaction.of(turn.snapshot)
    before = turn.ports.conversations.load().conversation
    header = {
        "conversation_id": uuid.UUID(session.conversation_id),
        "turn_id": uuid.UUID(turn.turn_id),
        "turn_no": session.turn_no,
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
    """Build the row of a turn whose process died, from the events that it stored while it ran; `events` end it.

    `previous` is the hash of the seal before it, and `release` the content hash of its release.
    """
    entries = read_running_entries(header["turn_id"])
    at_ms = max(int((now - header["created_at"]).total_seconds() * 1000), 0)
    has_input = any(entry["stage"] == USER_INPUT for entry in entries)
    for stage, payload in events:
        if not (has_input and stage == USER_INPUT):
            seq = entries[-1]["seq"] + 1 if entries else 1
            entries.append({"seq": seq, "stage": str(stage), "step": None, "ms": at_ms, "payload": dict(payload)})
    row = {**header, "last_seq": entries[-1]["seq"] if entries else 0}
    return _insert_row_stmts(row, TurnDocument.of(fold_steps(entries)), previous, release)


def add_after_turn(turn: Turn, after_seq: int) -> None:
    """Store the events after `after_seq` and the model calls of a turn that has its row already, or that never gets
    one. Needs an open transaction.
    """
    document = encode_turn(turn, after_seq)
    if document.entries:
        key = uuid.UUID(turn.request.conversation_id)
        of_turn = {"turn_id": uuid.UUID(turn.turn_id), "turn_no": turn.turn_no, "last_seq": len(turn.trail.events)}
        _add({key: document}, turn.ports.clock.now(), turn.snapshot.config_version, of_turn)


def add_outside(events: Sequence[OutsideEvent], now: datetime, config_version: int) -> None:
    """Store events that belong to no turn. Needs an open transaction."""
    by_conversation = defaultdict[uuid.UUID, list[dict[str, Json]]](list)
    for key, stage, payload in events:
        entries = by_conversation[uuid.UUID(str(key))]
        entries.append({"seq": len(entries) + 1, "stage": str(stage), "step": None, "ms": 0, "payload": payload})
    _add({key: TurnDocument.of(entries) for key, entries in by_conversation.items()}, now, config_version)


def _add(
    documents: Mapping[uuid.UUID, TurnDocument], at: datetime, version: int, of_turn: Mapping[str, Json] | None = None
) -> None:
    """Insert one row for each conversation, sealed after the last addition of its conversation.

    `of_turn` has the columns of the turn that they belong to, None for no turn.
    """
    # Running turns do not wait for this lock.
    if connection.vendor == "postgresql":
        rows = CeConversation.objects.filter(pk__in=sorted(documents)).order_by("pk")
        list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    additions = CeConversationHistory.additions.filter(conversation_id__in=list(documents)).values("conversation_id")
    newest = list(additions.annotate(last=Max("history_id")).values_list("last", flat=True))
    seals = CeConversationHistory.additions.filter(pk__in=newest).values_list("conversation_id", "seal")
    previous = {key: whole.hash for key, seal in seals if (whole := read_seal(seal))}
    release = configuration().content_hash(version)
    for key, document in documents.items():
        header = {"conversation_id": key, "created_at": at, "config_version": version, **_ADDITION}
        header |= of_turn or {"last_seq": len(document.entries)}
        for statement in _insert_row_stmts(header, document, previous.get(key), release)[0]:
            execute(statement)


def _insert_row_stmts(
    header: Mapping[str, Json],
    document: TurnDocument,
    previous: bytes | None,
    release: str,
    steps: Sequence[FormProgress] = (),
) -> SealedRow:
    """The row from its columns and its document, sealed after `previous`, and its index with the `steps` of its form.

    Rows outside of turns have no index.
    """
    sql, calls = dialect(), list_calls(document.entries)
    index_entries = list_index_entries(document.entries, steps) if "turn_id" in header else []
    row: dict[str, Json] = {
        **_NO_VALUES,
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
    index = [insert_index_stmt(header["turn_id"], header["created_at"], index_entries)] if index_entries else []
    return [insert, *index], seal.hash


def _json_or_null(text: bytes) -> str | None:
    return None if text == b"null" else text.decode()


def _adapt(value: Json, sql: Dialect) -> Json:
    """The value of a column as a parameter of a statement, in a type that the database's driver takes."""
    if isinstance(value, uuid.UUID):
        return sql.uuid_param(value)
    if isinstance(value, datetime):
        return sql.time_param(value)
    return sql.decimal_param(value) if isinstance(value, Decimal) else value
