"""Compaction: what an ended session leaves for the next one of its thread (sessions 9, tables 6.5).

One row of `ce_memory`, built from what the engine knows, and told by a model where `MemoryStep/SUMMARY_MODE` says so.
The row of the session says for which version it was done: done again, nothing changes; opened again and closed, it is
done anew.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import F

from convengine import conf, wiring
from convengine.actions import record
from convengine.codec import dumps, plain
from convengine.domain import settings
from convengine.domain.catalogue.memory import ENABLED, SUMMARY_MODE
from convengine.domain.catalogue.session import EXPLAINABILITY_TURNS
from convengine.domain.enums import ActionStatus, Lifecycle
from convengine.domain.job import Counts, Every, Job
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.memory.context_summary import Told, written
from convengine.memory.rewriting import folded
from convengine.rules.redacting import Redaction
from convengine.sessions.again import behind, put_together
from convengine.sessions.clock import database_time
from convengine.sessions.models import CeConversation, CeConversationHistory, CeMemory, CeSessionUnit
from convengine.sessions.sql import dialect

log = structlog.get_logger(__name__)
Json = Any
ENDED = (Lifecycle.COMPLETE.value, Lifecycle.ABORTED.value)
#: Sessions between two rests of the job.
BATCH = 20
#: Written as the partial index has it.
_WAITING = "lifecycle IN ('COMPLETE', 'ABORTED') AND NOT (compacted_version = version)"


class CompactionFailed(Exception):
    """Some sessions could not be compacted; the others were."""


def compact_ended() -> Iterator[Counts]:
    """Compact the sessions that have ended, those that ended first before the others. Raises CompactionFailed."""
    left_out: dict[str, str] = {}
    while keys := _waiting(left_out):
        done = 0
        for key in keys:
            try:
                if compact(key):
                    done += 1
                else:
                    left_out[key] = "changed meanwhile"
            except Exception as error:
                # One that cannot be done must not keep the others from it.
                log.error("session not compacted", conversation_id=key, error=str(error), exc_info=error)
                left_out[key] = f"{type(error).__name__}: {error}"
        yield {"compacted": done}
    faults = [f"{key}: {fault}" for key, fault in left_out.items() if fault != "changed meanwhile"]
    if faults:
        raise CompactionFailed(f"{len(faults)} sessions could not be compacted, such as {faults[0]}")


def compact(conversation_id: str, *, with_model: bool = True) -> bool:
    """Compact one ended session; true when that is done, now or before.

    False for one that is open, or changed meanwhile. Without the model the memory is there at once, and a session that
    a model is to tell of stays to be done.
    """
    row = CeConversation.objects.filter(pk=conversation_id, lifecycle__in=ENDED).first()
    if row is None or row.compacted_version == row.version:
        return row is not None
    snapshot = conf.load("SNAPSHOT").current()
    later = not with_model and _model_wanted(snapshot)
    told = _told_by_model(row, snapshot) if with_model else _Told()
    return _store(row, snapshot, told, done=not later) and not later


def compact_thread(workspace_id: str, channel: str, remote_jid: str) -> None:
    """Have the memory of a thread's ended sessions ready for the one that begins, without waiting for a model.

    One that cannot be compacted is the job's to tell of: it must not keep its user from the next session.
    """
    ended = CeConversation.objects.filter(
        workspace_id=workspace_id, channel=channel, remote_jid=remote_jid, lifecycle__in=ENDED
    ).exclude(compacted_version=F("version"))
    for key in ended.order_by("updated_at").values_list("pk", flat=True):
        try:
            compact(str(key), with_model=False)
        except Exception as error:
            log.error("session not compacted", conversation_id=str(key), error=str(error), exc_info=error)


def _waiting(left_out: Collection[str]) -> list[str]:
    """The next ones: few enough that the job says in time that it lives, however long a model takes for each."""
    size = 1 if _model_wanted(conf.load("SNAPSHOT").current()) else BATCH
    with connection.cursor() as cursor:
        cursor.execute(waiting_sql(size + len(left_out)))
        keys = [str(key) for (key,) in cursor.fetchall()]
    return [key for key in keys if key not in left_out][:size]


def waiting_sql(limit: int) -> str:
    """The statement that finds ended sessions that are to be compacted, those that ended first before the others."""
    return (
        f"SELECT conversation_id FROM ce_conversation WHERE {_WAITING} AND lease_token IS NULL "
        f"ORDER BY updated_at LIMIT {limit}"
    )


def _model_wanted(snapshot: Snapshot) -> bool:
    if settings.read(snapshot, SUMMARY_MODE).value != "LLM" or not settings.read(snapshot, ENABLED).value:
        return False
    return bool(wiring.models().all) or wiring.is_replaced()


@dataclass(frozen=True)
class _Told:
    """What a model made of a session, and the events and calls of its making."""

    text: str | None = None
    #: The turn that tells of the making, and how many of its events are stored already.
    turn: Turn | None = None
    stored: int = 0


def _told_by_model(row: CeConversation, snapshot: Snapshot) -> _Told:
    """The session in the model's words, where that is wanted and it has some. Holds no connection while it waits."""
    if not _model_wanted(snapshot) or (again := put_together(str(row.pk), snapshot)) is None:
        return _Told()
    turn, stored = again.turn, len(again.turn.trail.events)
    if not turn.ports.model.configured:
        return _Told()
    text = behind(turn, lambda shadow: folded(again.session, shadow, _built(row)))
    return _Told(text, turn, stored)


def _built(row: CeConversation) -> str:
    """The final summary without a model: the context summary, always of its five lines."""
    return row.context_summary or written(Told(turns=row.turn_count))


def _store(row: CeConversation, snapshot: Snapshot, told: _Told, *, done: bool) -> bool:
    """Everything at once; nothing when somebody opened the session again meanwhile."""
    now = database_time()
    context, expired = _without_open_action(row, now)
    with transaction.atomic():
        # First of all: it holds the row, so that of two workers one goes on with what the other left.
        if not _mark(row, context, done=done):
            return False
        _remember(row, told.text, now, Redaction.of(snapshot))
        _trim(row, settings.read(snapshot, EXPLAINABILITY_TURNS).value)
        if told.turn:
            conf.load("AUDIT_WRITER").added(told.turn, told.stored)
        if events := [(str(row.pk), Stage.PENDING_ACTION_LIFECYCLE, one) for one in expired]:
            conf.load("AUDIT_WRITER").outside(events, now, snapshot.config_version)
    return True


def _mark(row: CeConversation, context: Json, *, done: bool) -> bool:
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET context_json = {here.json}, compacted_version = CASE WHEN %s = 1 THEN version ELSE -1 END
                 WHERE conversation_id = %s AND version = %s AND lease_token IS NULL
                   AND {_WAITING}""",
            [dumps(context), int(done), here.uuid(row.pk), row.version],
        )
        return bool(cursor.rowcount)


def _without_open_action(row: CeConversation, now: datetime) -> tuple[Json, list[dict[str, Json]]]:
    """The context with its open action EXPIRED, and the event that tells of it."""
    if not isinstance(row.context_json, dict) or record.RECORD not in row.context_json:
        return row.context_json, []
    session = Session(
        str(row.pk),
        row.last_turn_no,
        context=row.context_json,
        intent=row.intent_code,
        state=row.state_code,
        epoch=row.context_epoch,
    )
    found = record.read(session)
    if found is None or found.status not in record.LIVE:
        return row.context_json, []
    expired = found.moved(ActionStatus.EXPIRED, record.Moment.of(row.last_turn_no, now))
    session = record.ended(record.written(session, expired))
    told = {"event": "SESSION_ENDED", "status": ActionStatus.EXPIRED.value}
    return plain(session.context), [{**told, "actionKey": found.action_key, "actionRef": found.action_ref}]


def _remember(row: CeConversation, told: str | None, now: datetime, redaction: Redaction) -> None:
    rolling = CeMemory.objects.filter(conversation=row, memory_type=CeMemory.MemoryType.SESSION_SUMMARY)
    first = rolling.values_list("from_turn", flat=True).first() or 1
    values = {
        "workspace_id": row.workspace_id,
        "channel": row.channel,
        "remote_jid": row.remote_jid,
        "summary_text": redaction.text(told or _built(row)),
        "source": "LLM" if told else "TEMPLATE",
        "detail_json": {
            "outcome": row.lifecycle,
            "reason": row.lifecycle_detail.get("reason"),
            "turns": row.turn_count,
            # Of what was noted before there was a pattern, too.
            "units": redaction.values(_units(row)),
        },
        "from_turn": first,
        "to_turn": max(row.last_turn_no, first),
        "updated_at": now,
    }
    CeMemory.objects.update_or_create(
        conversation=row,
        memory_type=CeMemory.MemoryType.COMPACTED,
        defaults=values,
        create_defaults={**values, "created_at": now},
    )


def _units(row: CeConversation) -> list[dict[str, Json]]:
    columns = ("kind", "topic", "claim", "source_turn", "utility", "phases")
    return [dict(unit) for unit in CeSessionUnit.objects.filter(conversation=row).order_by("unit_id").values(*columns)]


def _trim(row: CeConversation, kept: int) -> None:
    """The explainability log of an ended session keeps its newest turns only."""
    older = CeConversationHistory.objects.filter(conversation=row, turn_no__lte=row.last_turn_no - kept)
    older.exclude(request_meta=None, trace_graph=None).update(request_meta=None, trace_graph=None)


JOB = Job(
    "compact_sessions",
    "Compact ended sessions",
    "Keeps of each ended session its summary, its units and how it ended, for the next session of its thread; expires "
    "its open action.",
    Every(30),
    compact_ended,
)
