"""Write events to rows, in the turn's own commit: one INSERT for all (R2, R84)."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, transaction

from audit.models import CeAudit, CeChainCut
from audit.record import model_calls
from audit.record.rows import AuditRow, build_audit_rows, encode_payloads, join_json_list, limiter
from audit.record.seal import cuts, links, stored_pieces
from audit.record.seal.pieces import build_event_pieces, encode_deciding_rows, microseconds
from convengine.engine.pipeline.stages import AUDIT_EVENT_LOST
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.seal import CALLS, DECIDED, Batch, Pieces
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.server.app_interfaces import TurnWrites, WrittenTurn
from convengine.server.database.sql import Statement, dialect, execute

#: Occurs in no stage, no JSON and no code.
SEPARATOR = "\x01"
_INTO = """INSERT INTO ce_audit
    (conversation_id, turn_id, turn_no, config_version, stage, payload_json, created_at, seq) SELECT %s, %s, %s, %s, """
_DECIDED = "INSERT INTO ce_turn_row (turn_id, created_at, table_name, row_pk, role) SELECT %s, %s, "


def _texts(count: int) -> str:
    return ", ".join(["string_to_array(%s, E'\\x01')"] * count)


def _parts(count: int) -> str:
    return ", ".join(f"json_extract(value, '$[{index}]')" for index in range(count))


# The payloads are one JSON text, which costs the database a tenth less than eighty texts.
_FROM_TEXTS = f"""{_INTO}stage, payload, %s + at_ms * interval '1 millisecond', seq
FROM ROWS FROM (jsonb_array_elements(%s::jsonb), unnest({_texts(1)}, %s::int[], %s::int[]))
    AS event(payload, stage, seq, at_ms)"""
_FROM_JSON = f"{_INTO}{_parts(4)} FROM json_each(%s)"
_DECIDED_FROM_TEXTS = f"{_DECIDED}* FROM unnest({_texts(3)})"
_DECIDED_FROM_JSON = f"{_DECIDED}{_parts(3)} FROM json_each(%s)"


def writes(turn: Turn, after_seq: int = 0) -> TurnWrites:
    """The events of a turn after `after_seq`, its model calls, and its deciding rows (R58, R60)."""
    return TurnWrites([*events(turn, after_seq), *_deciding_rows(turn)], turn.batches)


def events(turn: Turn, after_seq: int = 0) -> list[Statement]:
    """The events of a turn after `after_seq`, and its unstored model calls."""
    _discard_batches(turn, after_seq)
    rows = _rows(turn, after_seq)
    statements = [_insert_rows_stmt(turn, rows)] if rows else []
    if model_calls.has_waiting_calls(turn):
        write, pieces = model_calls.insert_calls_stmt(turn)
        statements.append(write)
        _note(turn, 0, {CALLS: pieces})
    return statements


def write_with_care(turn: Turn, after_seq: int = 0) -> WrittenTurn:
    """Store the same event by event. Needs an open transaction.

    An event that the database refuses is replaced by AUDIT_EVENT_LOST. Called only after the normal write was refused,
    so that ordinary turns pay nothing.
    """
    _discard_batches(turn, after_seq)
    lost_count = 0
    # The event that lists the omitted ones might be the refused one.
    for row in _rows(turn, after_seq, every=True):
        noted = len(turn.batches)
        try:
            with transaction.atomic():
                execute(_insert_rows_stmt(turn, [row]))
        except DataError as refused:
            lost_count += 1
            del turn.batches[noted:]
            marker = {
                "stage": row.stage,
                "reason": str(refused).split("\n")[0],
                "bytes": len(dumps(row.payload).encode()),
            }
            execute(_insert_rows_stmt(turn, [AuditRow(row.seq, AUDIT_EVENT_LOST, marker, row.at_ms)]))
    for write in _deciding_rows(turn):
        execute(write)
    _note(turn, 0, {CALLS: model_calls.store_with_care(turn)})
    return WrittenTurn(turn.batches, lost_count)


def insert_later_events(turn: Turn, after_seq: int) -> None:
    """Store the events after `after_seq` and the model calls of a turn that has its record already, or that never gets
    one. Needs an open transaction.
    """
    turn.batches = []
    for write in events(turn, after_seq):
        execute(write)
    links.seal_late_events(turn, after_seq)


def pieces(conversation_id: str, turn_id: uuid.UUID, turn_no: int) -> tuple[int, Pieces]:
    """The stored data of a turn that no longer runs, for its seal, and the number of its last event."""
    return stored_pieces.read_turn_pieces(uuid.UUID(conversation_id), turn_id, turn_no)


def turns_removed_before(before: datetime) -> None:
    """Record that older turns and sessions are removed."""
    cuts.note_cut(CeChainCut.Kind.TURNS, before)


def turns_leave(keys: Sequence[int]) -> None:
    """Called with the keys of turn records right before they are removed. Needs an open transaction."""
    cuts.turns_leave(keys)


def append(
    conversation_id: str | uuid.UUID,
    turn_id: uuid.UUID | None,
    turn_no: int | None,
    config_version: int | None,
    now: datetime,
    events: Sequence[tuple[Stage, dict[str, Any]]],
) -> None:
    """Add events to a turn that no longer runs, or outside of turns, after the existing ones.

    Needs an open transaction. A turn that has no record yet gets its seal with it.
    """
    before = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    of_dead_turn = turn_no is not None and not links.has_record(turn_id)
    has_input = of_dead_turn and before.filter(stage=USER_INPUT).exists()
    key = uuid.UUID(str(conversation_id))
    new_events = [
        links.NewEvent(key, str(stage), payload, turn_id, turn_no)
        for stage, payload in events
        if not (has_input and stage == USER_INPUT)
    ]
    links.add_events(new_events, now, config_version, sealed=not of_dead_turn)


def outside(events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int | None) -> None:
    """Store events (conversation, stage, payload) that belong to no turn, each after those of its conversation.

    Needs an open transaction.
    """
    new_events = [links.NewEvent(uuid.UUID(str(key)), str(stage), payload) for key, stage, payload in events]
    links.add_events(new_events, now, config_version)


def _rows(turn: Turn, after_seq: int, *, every: bool = False) -> list[AuditRow]:
    return build_audit_rows(turn, after_seq, limiter.admits if limiter.on else None, every=every)


def _discard_batches(turn: Turn, after_seq: int) -> None:
    """A repeated write gets a new seal."""
    if turn.batches:
        turn.batches = [batch for batch in turn.batches if batch.after < after_seq + turn.model_calls_stored]


def _note(turn: Turn, last_seq: int, sealed: Pieces) -> None:
    before = turn.flush_step.stored if turn.flush_step else 0
    turn.batches.append(Batch(before + turn.model_calls_stored, last_seq, sealed))


def _insert_rows_stmt(turn: Turn, rows: Sequence[AuditRow]) -> Statement:
    """One statement for all rows, as a few texts; the cost of a row is its index entries."""
    sql = dialect()
    same = [
        sql.uuid_param(turn.request.conversation_id),
        sql.uuid_param(turn.turn_id),
        turn.turn_no,
        turn.snapshot.config_version,
    ]
    now = turn.ports.clock.now()
    payloads, hashed = encode_payloads(rows, Redaction.of(turn.snapshot))
    _note(turn, rows[-1].seq, build_event_pieces(rows, hashed, microseconds(now)))
    if sql.vendor == "postgresql":
        seqs, stages, _, at_ms = zip(*rows, strict=True)
        numbers = [f"{{{str(list(numbers))[1:-1]}}}" for numbers in (seqs, at_ms)]
        return Statement(_FROM_TEXTS, [*same, now, join_json_list(payloads), SEPARATOR.join(stages), *numbers])
    times = {at_ms: sql.time_param(now + timedelta(milliseconds=at_ms)) for at_ms in {row.at_ms for row in rows}}
    pairs = zip(rows, map(loads, payloads), strict=True)
    return Statement(_FROM_JSON, [*same, dumps([(row.stage, each, times[row.at_ms], row.seq) for row, each in pairs])])


def _deciding_rows(turn: Turn) -> list[Statement]:
    if not turn.decided_rows:
        return []
    sql, now = dialect(), turn.ports.clock.now()
    rows = [(row.table, row.row_pk, row.role) for row in turn.decided_rows]
    _note(turn, 0, {DECIDED: encode_deciding_rows((*row, now) for row in rows)})
    same = [sql.uuid_param(turn.turn_id), sql.time_param(now)]
    if sql.vendor == "postgresql":
        columns = [SEPARATOR.join(column) for column in zip(*rows, strict=True)]
        return [Statement(_DECIDED_FROM_TEXTS, [*same, *columns])]
    return [Statement(_DECIDED_FROM_JSON, [*same, dumps(rows)])]
