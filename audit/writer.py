"""Trail to rows, inside the turn's own commit (R2, R84): one INSERT for all."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, transaction

from audit import model_calls
from audit.chain import cuts, links, stored
from audit.chain.pieces import microseconds, of_deciding, of_events
from audit.models import CeAudit, CeChainCut
from audit.rate_limit import limiter
from audit.rows import AuditRow, audit_rows, listed, texts
from convengine.codec import dumps, loads
from convengine.domain.chain import CALLS, DECIDED, Batch, Pieces
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.redacting import Redaction
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write, execute

#: Stands in no stage, in no JSON and in no code.
SEPARATOR = "\x01"
_INTO = """INSERT INTO ce_audit
    (conversation_id, turn_id, turn_no, config_version, stage, payload_json, created_at, seq) SELECT %s, %s, %s, %s, """
_DECIDED = "INSERT INTO ce_turn_row (turn_id, created_at, table_name, row_pk, role) SELECT %s, %s, "


def _texts(count: int) -> str:
    return ", ".join(["string_to_array(%s, E'\\x01')"] * count)


def _parts(count: int) -> str:
    return ", ".join(f"json_extract(value, '$[{place}]')" for place in range(count))


# The payloads are one JSON text: read once, they cost the database a tenth less than eighty do.
_FROM_TEXTS = f"""{_INTO}stage, payload, %s + at_ms * interval '1 millisecond', seq
FROM ROWS FROM (jsonb_array_elements(%s::jsonb), unnest({_texts(1)}, %s::int[], %s::int[]))
    AS event(payload, stage, seq, at_ms)"""
_FROM_JSON = f"{_INTO}{_parts(4)} FROM json_each(%s)"
_DECIDED_FROM_TEXTS = f"{_DECIDED}* FROM unnest({_texts(3)})"
_DECIDED_FROM_JSON = f"{_DECIDED}{_parts(3)} FROM json_each(%s)"


def writes(turn: Turn, after_seq: int = 0) -> list[Write]:
    """The events of a turn beyond `after_seq`, its model calls, and the rows that decided it (R58, R60)."""
    return [*events(turn, after_seq), *_deciding_rows(turn)]


def events(turn: Turn, after_seq: int = 0) -> list[Write]:
    """The events of a turn beyond `after_seq`, and the model calls that are not stored yet."""
    _begin_again(turn, after_seq)
    rows = _rows(turn, after_seq)
    found = [_stored(turn, rows)] if rows else []
    if model_calls.waiting(turn):
        write, pieces = model_calls.stored(turn)
        found.append(write)
        _note(turn, 0, {CALLS: pieces})
    return found


def write_with_care(turn: Turn, after_seq: int = 0) -> int:
    """Store the same, event by event, and give how many were lost. Needs an open transaction.

    What the database refuses is replaced by AUDIT_EVENT_LOST. A caller asks for it after the plain way was refused, so
    that ordinary turns pay nothing for it.
    """
    _begin_again(turn, after_seq)
    lost = 0
    # The event that tells what was left out might be the one that is refused.
    for row in _rows(turn, after_seq, every=True):
        noted = len(turn.batches)
        try:
            with transaction.atomic():
                execute(_stored(turn, [row]))
        except DataError as refused:
            lost += 1
            del turn.batches[noted:]
            marker = {
                "stage": row.stage,
                "reason": str(refused).split("\n")[0],
                "bytes": len(dumps(row.payload).encode()),
            }
            execute(_stored(turn, [AuditRow(row.seq, Stage.AUDIT_EVENT_LOST.value, marker, row.at_ms)]))
    for write in _deciding_rows(turn):
        execute(write)
    _note(turn, 0, {CALLS: model_calls.store_with_care(turn)})
    return lost


def added(turn: Turn, after_seq: int) -> None:
    """Store the events beyond `after_seq` and the model calls of a turn that has its record already, or that never
    gets one. Needs an open transaction.
    """
    turn.batches = []
    for write in events(turn, after_seq):
        execute(write)
    links.extend(turn, after_seq)


def pieces(conversation_id: str, turn_id: uuid.UUID, turn_no: int) -> tuple[int, Pieces]:
    """What is stored of a turn that nobody runs any more, as its seal sees it, and the number of its last event."""
    return stored.of_turn(uuid.UUID(conversation_id), turn_id, turn_no)


def turns_removed_before(before: datetime) -> None:
    """Note that turns and sessions that are older are taken out."""
    cuts.noted(CeChainCut.Kind.TURNS, before)


def turns_leave(keys: Sequence[int]) -> None:
    """Told of turn records, by their keys, right before they are removed. Needs an open transaction."""
    cuts.turns_leave(keys)


def spent(conversation_id: str) -> float:
    """What the logged model calls of a conversation have cost, as far back as the log is kept."""
    return model_calls.spent(conversation_id)


def append(
    conversation_id: str | uuid.UUID,
    turn_id: uuid.UUID | None,
    turn_no: int | None,
    config_version: int | None,
    now: datetime,
    events: Sequence[tuple[Stage, dict[str, Any]]],
) -> None:
    """Add events to a turn that nobody runs any more, or outside of turns, behind those that there are.

    Needs an open transaction. A turn that has no record yet gets its seal with it.
    """
    before = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    of_dead_turn = turn_no is not None and not links.has_record(turn_id)
    has_input = of_dead_turn and before.filter(stage=Stage.USER_INPUT).exists()
    key = uuid.UUID(str(conversation_id))
    told = [
        links.Told(key, stage.value, payload, turn_id, turn_no)
        for stage, payload in events
        if not (has_input and stage == Stage.USER_INPUT)
    ]
    links.add(told, now, config_version, sealed=not of_dead_turn)


def last_seq(conversation_id: str, turn_no: int | None) -> int:
    """The number of the last event of a turn, or of those outside of turns; 0 when there is none."""
    events = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    return events.order_by("-seq").values_list("seq", flat=True).first() or 0


def outside(events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int | None) -> None:
    """Store events (conversation, stage, payload) that belong to no turn, each behind those that its conversation has.

    Needs an open transaction.
    """
    told = [links.Told(uuid.UUID(str(key)), stage.value, payload) for key, stage, payload in events]
    links.add(told, now, config_version)


def asked_for(turn_id: str, conversation_id: str, purposes: Sequence[str]) -> bool:
    """True when a model was asked for one of these purposes in a turn, or after it."""
    return model_calls.asked_for(turn_id, conversation_id, purposes)


def _rows(turn: Turn, after_seq: int, *, every: bool = False) -> list[AuditRow]:
    return audit_rows(turn, after_seq, limiter.admits if limiter.on else None, every=every)


def _begin_again(turn: Turn, after_seq: int) -> None:
    """What is stored anew is sealed as it is stored then."""
    if turn.batches:
        turn.batches = [batch for batch in turn.batches if batch.after < after_seq + turn.model_calls_stored]


def _note(turn: Turn, last_seq: int, sealed: Pieces) -> None:
    before = turn.flush_step.stored if turn.flush_step else 0
    turn.batches.append(Batch(before + turn.model_calls_stored, last_seq, sealed))


def _stored(turn: Turn, rows: Sequence[AuditRow]) -> Write:
    """One statement for all rows, which go as a few texts: what a row costs is its place in the indexes."""
    here = dialect()
    same = [
        here.uuid(turn.request.conversation_id),
        here.uuid(turn.turn_id),
        turn.turn_no,
        turn.snapshot.config_version,
    ]
    now = turn.ports.clock.now()
    payloads, hashed = texts(rows, Redaction.of(turn.snapshot))
    _note(turn, rows[-1].seq, of_events(rows, hashed, microseconds(now)))
    if here.vendor == "postgresql":
        seqs, stages, _, at_ms = zip(*rows, strict=True)
        numbers = [f"{{{str(list(one))[1:-1]}}}" for one in (seqs, at_ms)]
        return Write(_FROM_TEXTS, [*same, now, listed(payloads), SEPARATOR.join(stages), *numbers])
    times = {at_ms: here.time(now + timedelta(milliseconds=at_ms)) for at_ms in {row.at_ms for row in rows}}
    told = zip(rows, map(loads, payloads), strict=True)
    return Write(_FROM_JSON, [*same, dumps([(row.stage, each, times[row.at_ms], row.seq) for row, each in told])])


def _deciding_rows(turn: Turn) -> list[Write]:
    if not turn.decided_rows:
        return []
    here, now = dialect(), turn.ports.clock.now()
    rows = [(row.table, row.row_pk, row.role) for row in turn.decided_rows]
    _note(turn, 0, {DECIDED: of_deciding((*row, now) for row in rows)})
    same = [here.uuid(turn.turn_id), here.time(now)]
    if here.vendor == "postgresql":
        columns = [SEPARATOR.join(column) for column in zip(*rows, strict=True)]
        return [Write(_DECIDED_FROM_TEXTS, [*same, *columns])]
    return [Write(_DECIDED_FROM_JSON, [*same, dumps(rows)])]
