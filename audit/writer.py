"""Trail to rows, inside the turn's own transaction (R2, R84): one COPY on PostgreSQL, one executemany elsewhere."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DataError, connection, transaction

from audit.models import CeAudit
from audit.rate_limit import limiter
from audit.rows import AuditRow, audit_rows
from convengine.codec import dumps, loads
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.sessions.sql import dialect

_COLUMNS = "conversation_id, stage, payload_json, created_at, turn_id, turn_no, seq, config_version"


@dataclass(frozen=True)
class Written:
    """What became of a trail."""

    rows: int = 0
    #: Events that a filter or the rate limit left out.
    filtered: int = 0
    #: Events that the database refused; a marker stands in their place.
    lost: int = 0


def write(turn: Turn, *, after_seq: int = 0, careful: bool = False) -> Written:
    """Store the events of a turn beyond `after_seq`, and the rows that decided it. Needs an open transaction.

    `careful` stores event by event: what the database refuses is replaced by AUDIT_EVENT_LOST. A caller asks for it
    after a plain attempt failed with DataError, so that ordinary turns pay nothing for it.
    """
    rows, filtered = audit_rows(turn, after_seq, limiter.admits if limiter.on else None)
    lost = _store_carefully(turn, rows) if careful else _store(turn, rows)
    return Written(len(rows), filtered, lost)


def write_deciding_rows(turn: Turn) -> None:
    """Store the configuration rows that decided the turn (R58). Needs an open transaction."""
    here = dialect()
    turn_id, now = here.uuid(turn.turn_id), here.time(turn.ports.clock.now())
    values = [value for row in turn.decided_rows for value in (turn_id, now, row.table, row.row_pk, row.role)]
    if values:
        places = ", ".join(["(%s, %s, %s, %s, %s)"] * (len(values) // 5))
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO ce_turn_row (turn_id, created_at, table_name, row_pk, role) VALUES {places}",
                values,
            )


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
    last = before.order_by("-seq").values_list("seq", flat=True).first() or 0
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


def _store(turn: Turn, rows: Sequence[AuditRow]) -> int:
    if connection.vendor == "postgresql":
        _copy(turn, rows)
    elif rows:
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO ce_audit ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                [_values(turn, row) for row in rows],
            )
    return 0


def _time(turn: Turn, at_ms: int) -> datetime:
    return turn.ports.clock.now() + timedelta(milliseconds=at_ms)


def _values(turn: Turn, row: AuditRow) -> tuple[Any, ...]:
    here = dialect()
    return (
        here.uuid(turn.request.conversation_id),
        row.stage,
        row.payload,
        here.time(_time(turn, row.at_ms)),
        here.uuid(turn.turn_id),
        turn.turn_no,
        row.seq,
        turn.snapshot.config_version,
    )


def _copy(turn: Turn, rows: Sequence[AuditRow]) -> None:
    """One COPY in text format. Nothing here has a raw tab or line break, so only the JSON's backslashes need care."""
    times = {at_ms: _time(turn, at_ms).isoformat() for at_ms in {row.at_ms for row in rows}}
    conversation_id, version = turn.request.conversation_id, turn.snapshot.config_version
    same = f"{uuid.UUID(turn.turn_id)}\t{turn.turn_no}"
    lines = [
        f"{conversation_id}\t{stage}\t{payload}\t{times[at_ms]}\t{same}\t{seq}\t{version}\n"
        for seq, stage, payload, at_ms in rows
    ]
    with connection.cursor() as cursor, cursor.copy(f"COPY ce_audit ({_COLUMNS}) FROM STDIN") as copy:
        copy.write("".join(lines).replace("\\", "\\\\"))


def _store_carefully(turn: Turn, rows: Sequence[AuditRow]) -> int:
    lost = 0
    for row in rows:
        try:
            with transaction.atomic():
                _store(turn, [row])
        except DataError as refused:
            lost += 1
            marker = {"stage": row.stage, "reason": str(refused).split("\n")[0], "bytes": len(row.payload.encode())}
            _store(turn, [AuditRow(row.seq, Stage.AUDIT_EVENT_LOST.value, dumps(marker), row.at_ms)])
    return lost
