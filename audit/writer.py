"""Trail to rows, inside the turn's own commit (R2, R84): one INSERT for all."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, transaction

from audit import model_calls
from audit.filters import AuditFilter
from audit.models import CeAudit
from audit.rate_limit import limiter
from audit.rows import AuditRow, audit_rows, masked
from convengine.codec import dumps, loads
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write, execute

#: Stands in no stage, in no JSON and in no code.
SEPARATOR = "\x01"
_INTO = """INSERT INTO ce_audit
    (conversation_id, turn_id, turn_no, config_version, stage, payload_json, created_at, seq) SELECT %s, %s, %s, %s, """
_DECIDED = "INSERT INTO ce_turn_row (turn_id, created_at, table_name, row_pk, role) SELECT %s, "


def _texts(count: int) -> str:
    return ", ".join(["string_to_array(%s, E'\\x01')"] * count)


def _parts(count: int) -> str:
    return ", ".join(f"json_extract(value, '$[{place}]')" for place in range(count))


# The payloads are one JSON text: read once, they cost the database a tenth less than eighty do.
_FROM_TEXTS = f"""{_INTO}stage, payload, %s + at_ms * interval '1 millisecond', seq
FROM ROWS FROM (jsonb_array_elements(%s::jsonb), unnest({_texts(1)}, %s::int[], %s::int[]))
    AS event(payload, stage, seq, at_ms)"""
_FROM_JSON = f"{_INTO}{_parts(4)} FROM json_each(%s)"
_DECIDED_FROM_TEXTS = f"* FROM unnest({_texts(3)})"
_DECIDED_FROM_JSON = f"{_parts(3)} FROM json_each(%s)"
#: Numbered behind the last event outside of turns, in the order in which they are told.
_OUTSIDE = """INSERT INTO ce_audit (config_version, created_at, conversation_id, stage, payload_json, seq)
SELECT %s, %s, event.key, event.stage, event.payload,
       COALESCE((SELECT max(a.seq) FROM ce_audit a WHERE a.conversation_id = event.key AND a.turn_no IS NULL), 0)
       + row_number() OVER (PARTITION BY event.key ORDER BY event.place)
  FROM """
_OUTSIDE_FROM_TEXTS = f"""{_OUTSIDE}(SELECT key::uuid, stage, payload::jsonb, place
  FROM unnest({_texts(3)}) WITH ORDINALITY AS told(key, stage, payload, place)) AS event"""
_OUTSIDE_FROM_JSON = f"""{_OUTSIDE}(SELECT json_extract(value, '$[0]') AS key, json_extract(value, '$[1]') AS stage,
  json_extract(value, '$[2]') AS payload, key AS place FROM json_each(%s)) AS event"""


def writes(turn: Turn, after_seq: int = 0) -> list[Write]:
    """The events of a turn beyond `after_seq`, its model calls, and the rows that decided it (R58, R60)."""
    return [*events(turn, after_seq), *_deciding_rows(turn)]


def events(turn: Turn, after_seq: int = 0) -> list[Write]:
    """The events of a turn beyond `after_seq`, and the model calls that are not stored yet."""
    rows = _rows(turn, after_seq)
    found = [_stored(turn, rows)] if rows else []
    return [*found, model_calls.stored(turn)] if model_calls.waiting(turn) else found


def write_with_care(turn: Turn, after_seq: int = 0) -> int:
    """Store the same, event by event, and give how many were lost. Needs an open transaction.

    What the database refuses is replaced by AUDIT_EVENT_LOST. A caller asks for it after the plain way was refused, so
    that ordinary turns pay nothing for it.
    """
    lost = 0
    for row in _rows(turn, after_seq):
        try:
            with transaction.atomic():
                execute(_stored(turn, [row]))
        except DataError as refused:
            lost += 1
            marker = {
                "stage": row.stage,
                "reason": str(refused).split("\n")[0],
                "bytes": len(dumps(row.payload).encode()),
            }
            execute(_stored(turn, [AuditRow(row.seq, Stage.AUDIT_EVENT_LOST.value, marker, row.at_ms)]))
    for write in _deciding_rows(turn):
        execute(write)
    model_calls.store_with_care(turn)
    return lost


def spent(conversation_id: str) -> float:
    """What the logged model calls of a conversation have cost, as far back as the log is kept."""
    return model_calls.spent(conversation_id)


def append(
    conversation_id: str,
    turn_id: uuid.UUID | None,
    turn_no: int | None,
    config_version: int | None,
    now: datetime,
    events: Sequence[tuple[Stage, dict[str, Any]]],
) -> None:
    """Add events to a turn that nobody runs any more, behind those that it has. Needs an open transaction."""
    before = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    last = last_seq(conversation_id, turn_no)
    has_input = last and before.filter(stage=Stage.USER_INPUT).exists()
    CeAudit.objects.bulk_create(
        CeAudit(
            conversation_id=conversation_id,
            turn_id=turn_id,
            turn_no=turn_no,
            config_version=config_version,
            created_at=now,
            seq=last + place,
            stage=stage.value,
            payload_json=loads(dumps(payload)),
        )
        for place, (stage, payload) in enumerate(
            (event for event in events if not (has_input and event[0] == Stage.USER_INPUT)), start=1
        )
    )


def last_seq(conversation_id: str, turn_no: int | None) -> int:
    """The number of the last event of a turn, or of those outside of turns; 0 when there is none."""
    events = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    return events.order_by("-seq").values_list("seq", flat=True).first() or 0


def outside(events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int | None) -> Write:
    """Events (conversation, stage, payload) that belong to no turn, each behind those that its conversation has."""
    here = dialect()
    rows = [(str(here.uuid(key)), stage.value, dumps(payload)) for key, stage, payload in events]
    params: list[Any] = [config_version, here.time(now)]
    if here.vendor == "postgresql":
        return Write(_OUTSIDE_FROM_TEXTS, [*params, *(SEPARATOR.join(column) for column in zip(*rows, strict=True))])
    return Write(_OUTSIDE_FROM_JSON, [*params, dumps(rows)])


def asked_for(turn_id: str, conversation_id: str, purposes: Sequence[str]) -> bool:
    """True when a model was asked for one of these purposes in a turn, or after it."""
    return model_calls.asked_for(turn_id, conversation_id, purposes)


def _rows(turn: Turn, after_seq: int) -> list[AuditRow]:
    return audit_rows(turn, after_seq, limiter.admits if limiter.on else None)


def _stored(turn: Turn, rows: Sequence[AuditRow]) -> Write:
    """One statement for all rows, which go as a few texts: what a row costs is its place in the indexes."""
    here = dialect()
    same = [
        here.uuid(turn.request.conversation_id),
        here.uuid(turn.turn_id),
        turn.turn_no,
        turn.snapshot.config_version,
    ]
    now, payloads = turn.ports.clock.now(), masked(rows, AuditFilter.of(turn.snapshot).redact_keys)
    if here.vendor == "postgresql":
        seqs, stages, _, at_ms = zip(*rows, strict=True)
        numbers = [f"{{{str(list(one))[1:-1]}}}" for one in (seqs, at_ms)]
        return Write(_FROM_TEXTS, [*same, now, payloads, SEPARATOR.join(stages), *numbers])
    times = {at_ms: here.time(now + timedelta(milliseconds=at_ms)) for at_ms in {row.at_ms for row in rows}}
    told = zip(rows, loads(payloads), strict=True)
    return Write(_FROM_JSON, [*same, dumps([(row.stage, each, times[row.at_ms], row.seq) for row, each in told])])


def _deciding_rows(turn: Turn) -> list[Write]:
    if not turn.decided_rows:
        return []
    here = dialect()
    into, turn_id = f"{_DECIDED}{here.now()}, ", here.uuid(turn.turn_id)
    rows = [(row.table, row.row_pk, row.role) for row in turn.decided_rows]
    if here.vendor == "postgresql":
        columns = [SEPARATOR.join(column) for column in zip(*rows, strict=True)]
        return [Write(into + _DECIDED_FROM_TEXTS, [turn_id, *columns])]
    return [Write(into + _DECIDED_FROM_JSON, [turn_id, dumps(rows)])]
