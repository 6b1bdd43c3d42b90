"""Compaction: what an ended session leaves for the next session of its thread.

One row of `ce_memory`, built from what the engine knows, or written by a model with `MemoryStep/SUMMARY_MODE`. The
session's row says for which version it was done: a repetition changes nothing; a session that was reopened and closed
is compacted again.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import connection, transaction
from django.db.models import F

from convengine.engine.memory.context_summary import SummaryParts, format_summary
from convengine.engine.memory.settings import ENABLED, SUMMARY_MODE
from convengine.engine.memory.summary import fold_summary
from convengine.engine.pending_actions import record
from convengine.engine.pending_actions.stages import PENDING_ACTION_LIFECYCLE
from convengine.engine.redaction import Redaction
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps, to_plain
from convengine.engine.turn.enums import ActionStatus
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server import wiring
from convengine.server.database.sql import database_time, dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.memory.rebuild_turn import rebuild_turn, run_after_turn
from convengine.server.sessions.models import ENDED, CeConversation, CeMemory, CeSessionUnit

log = structlog.get_logger(__name__)
#: Sessions between two pauses of the job.
BATCH = 20
#: Written exactly like the partial index.
_WAITING = "lifecycle IN ('COMPLETE', 'ABORTED') AND NOT (compacted_version = version)"


class CompactionFailed(Exception):
    """Some sessions could not be compacted; the others were."""


def compact_ended_sessions() -> Iterator[Counts]:
    """Compact ended sessions, oldest end first. Raises CompactionFailed."""
    faults: dict[str, str] = {}
    changed: set[str] = set()
    while keys := _next_sessions(faults.keys() | changed):
        done = 0
        for key in keys:
            try:
                if compact(key):
                    done += 1
                else:
                    changed.add(key)
            except Exception as error:
                # One that fails must not prevent the others.
                log.error("session not compacted", conversation_id=key, error=str(error), exc_info=error)
                faults[key] = f"{type(error).__name__}: {error}"
        yield {"compacted": done}
    if faults:
        key, fault = next(iter(faults.items()))
        raise CompactionFailed(f"{len(faults)} sessions could not be compacted. The first one: {key}: {fault}")


def compact(conversation_id: str, *, with_model: bool = True) -> bool:
    """Compact one ended session; true when that is done, now or before.

    False for one that is open, or changed meanwhile. Without the model the memory is there at once, and a session that
    a model should summarise stays in the queue.
    """
    row = CeConversation.objects.filter(pk=conversation_id, lifecycle__in=ENDED).first()
    if row is None or row.compacted_version == row.version:
        return row is not None
    snapshot = configuration().current()
    later = not with_model and _is_model_wanted(snapshot)
    model_summary = _ask_model_for_summary(row, snapshot) if with_model else _ModelSummary()
    return _store_compaction(row, snapshot, model_summary, done=not later) and not later


def compact_thread(workspace_id: str, channel: str, remote_jid: str) -> None:
    """Prepare the memory of a thread's ended sessions for a new one, without waiting for a model.

    The job reports a session that cannot be compacted; it must not keep its user from the next session.
    """
    ended = CeConversation.objects.filter(
        workspace_id=workspace_id, channel=channel, remote_jid=remote_jid, lifecycle__in=ENDED
    ).exclude(compacted_version=F("version"))
    for key in ended.order_by("updated_at").values_list("pk", flat=True):
        try:
            compact(str(key), with_model=False)
        except Exception as error:
            log.error("session not compacted", conversation_id=str(key), error=str(error), exc_info=error)


def _next_sessions(left_out: Collection[str]) -> list[str]:
    """The next sessions: few enough that the job renews its lease in time, however long a model takes."""
    size = 1 if _is_model_wanted(configuration().current()) else BATCH
    with connection.cursor() as cursor:
        cursor.execute(uncompacted_sql(size + len(left_out)))
        keys = [str(key) for (key,) in cursor.fetchall()]
    return [key for key in keys if key not in left_out][:size]


def uncompacted_sql(limit: int) -> str:
    """The statement that finds ended sessions to compact, oldest end first."""
    return (
        f"SELECT conversation_id FROM ce_conversation WHERE {_WAITING} AND lease_token IS NULL "
        f"ORDER BY updated_at LIMIT {limit}"
    )


def _is_model_wanted(snapshot: Snapshot) -> bool:
    if live_settings.read(snapshot, SUMMARY_MODE).value != "LLM" or not live_settings.read(snapshot, ENABLED).value:
        return False
    return bool(wiring.models().answering) or wiring.is_replaced()


@dataclass(frozen=True)
class _ModelSummary:
    """A model's summary of a session, with its events and calls."""

    text: str | None = None
    #: The turn of these events, and how many of its events are stored already.
    turn: Turn | None = None
    stored: int = 0


def _ask_model_for_summary(row: CeConversation, snapshot: Snapshot) -> _ModelSummary:
    """The session in the model's words, if configured and available. Holds no connection while it waits."""
    if not _is_model_wanted(snapshot) or (again := rebuild_turn(str(row.pk), snapshot)) is None:
        return _ModelSummary()
    turn, stored = again.turn, len(again.turn.trail.events)
    if not turn.ports.model.configured:
        return _ModelSummary()
    text = run_after_turn(turn, lambda shadow: fold_summary(again.session, shadow, _built_summary(row)))
    return _ModelSummary(text, turn, stored)


def _built_summary(row: CeConversation) -> str:
    """The final summary without a model: the context summary with its five lines."""
    return row.context_summary or format_summary(SummaryParts(turns=row.turn_count))


def _store_compaction(read: CeConversation, snapshot: Snapshot, summary: _ModelSummary, *, done: bool) -> bool:
    """Store everything at once; false if the session was opened again or compacted since it was read.

    `done=False` stores it without a model's summary: the session stays in the queue.
    """
    now = database_time()
    with transaction.atomic():
        waiting = CeConversation.objects.exclude(compacted_version=F("version")).filter(lifecycle__in=ENDED)
        # Again, because another process may have expired its action since: that gives it no new version.
        row = waiting.select_for_update().filter(pk=read.pk, version=read.version, lease_token=None).first()
        if row is None:
            return False
        context, expired = _expire_open_action(row, now)
        sql = dialect()
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE ce_conversation SET context_json = {sql.json}, compacted_version = %s"
                " WHERE conversation_id = %s",
                [dumps(context), row.version if done else -1, sql.uuid_param(row.pk)],
            )
        _store_memory(row, summary.text, now, Redaction.of(snapshot))
        if summary.turn:
            turn_log().add_after_turn(summary.turn, summary.stored)
        if events := [(str(row.pk), PENDING_ACTION_LIFECYCLE, action) for action in expired]:
            turn_log().add_outside(events, now, snapshot.config_version)
    return True


def _expire_open_action(row: CeConversation, now: datetime) -> tuple[Json, list[dict[str, Json]]]:
    """The context with its open action EXPIRED, and the event."""
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
    action = record.read_record(session)
    if action is None or action.status not in record.LIVE:
        return row.context_json, []
    expired = action.with_status(ActionStatus.EXPIRED, record.Moment.of(row.last_turn_no, now))
    session = record.end_record(record.store_record(session, expired))
    payload = {"event": "SESSION_ENDED", "status": ActionStatus.EXPIRED.value}
    return to_plain(session.context), [{**payload, "actionKey": action.action_key, "actionRef": action.action_ref}]


def _store_memory(row: CeConversation, summary: str | None, now: datetime, redaction: Redaction) -> None:
    rolling = CeMemory.objects.filter(conversation=row, memory_type=CeMemory.MemoryType.SESSION_SUMMARY)
    first = rolling.values_list("from_turn", flat=True).first() or 1
    columns = ("kind", "topic", "claim", "source_turn", "utility", "phases")
    units = CeSessionUnit.objects.filter(conversation=row).order_by("unit_id").values(*columns)
    values = {
        "workspace_id": row.workspace_id,
        "channel": row.channel,
        "remote_jid": row.remote_jid,
        "summary_text": redaction.text(summary or _built_summary(row)),
        "source": "LLM" if summary else "TEMPLATE",
        "detail_json": {
            "outcome": row.lifecycle,
            "reason": redaction.values(row.lifecycle_detail.get("reason")),
            "turns": row.turn_count,
            # Also masks notes from before there was a pattern.
            "units": redaction.values([dict(unit) for unit in units]),
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


JOB = Job(
    "compact_sessions",
    "Compact ended sessions",
    (
        "Reduces each ended session to its summary, session units and outcome for the next session of its thread. "
        "Its open action expires."
    ),
    Every(30),
    compact_ended_sessions,
    waits_outside=True,
)
