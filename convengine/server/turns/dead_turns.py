"""Records of turns that did not commit."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from django.db import connection, transaction

from convengine.engine.errors import ConvEngineError, TurnTimeout
from convengine.engine.pipeline.stages import ENGINE_UNKNOWN_FAILURE
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.threads.lifecycle import INTERRUPTED, RUNNING, build_event
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.codec import load_column
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.stage import Stage
from convengine.server.confirmed_actions.review import is_turn_running
from convengine.server.database.sql import Statement, database_time, dialect, execute
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.sessions.models import (
    FREE_LEASE,
    TURN,
    CeConversation,
    CeConversationHistory,
    CePendingActionExecution,
)

#: The codes of turns that did not end by themselves.
LEASE_EXPIRED = "LEASE_EXPIRED"
ENDED_CODES = (LEASE_EXPIRED, TurnTimeout.code)
_MESSAGES = {
    LEASE_EXPIRED: "The server process ended or stood still before the turn ended.",
    TurnTimeout.code: "The turn did not end within its time limit, so the server ended the process that ran it.",
}
#: The columns of a conversation that decide about its release.
_CHOSEN_BY = (
    *("workspace_id", "channel", "remote_jid", "intent_code", "state_code"),
    *("context_json", "turn_count", "lifecycle"),
)
log = structlog.get_logger(__name__)


def recover_expired_lease(conversation_id: str) -> bool:
    """Record the dead turn of an expired lease, and free the lease. Returns true if this call did it.

    Returns false for a lease that is free or has not expired, and for a row that another transaction has locked.
    """
    sql = dialect()
    is_expired = f"lease_token IS NOT NULL AND lease_expires_at < {sql.now()}"
    return _record_dead_turn(conversation_id, is_expired, [], LEASE_EXPIRED)


def end_overdue_turn(conversation_id: str, token: str) -> bool:
    """Record that a turn did not end within its time limit, and free its lease, unless it has lost the lease."""
    return _record_dead_turn(conversation_id, "lease_token = %s", [dialect().uuid_param(token)], TurnTimeout.code)


def _record_dead_turn(conversation_id: str, condition: str, params: Sequence[Any], code: str) -> bool:
    """Record the turn that holds a lease, and free the lease, if the row fulfils the condition and is not locked."""
    sql = dialect()
    with transaction.atomic(), connection.cursor() as cursor:
        # A locked row is being committed or recovered: neither may delay readers.
        lock = " FOR UPDATE SKIP LOCKED" if sql.vendor == "postgresql" else ""
        cursor.execute(
            f"""SELECT lease_info, context_epoch, intent_code, state_code, lease_interrupted_by IS NOT NULL,
                       {sql.now()}, chain_head
                  FROM ce_conversation
                 WHERE conversation_id = %s AND {condition}{lock}""",
            [sql.uuid_param(conversation_id), *params],
        )
        row = cursor.fetchone()
        if row is None:
            return False
        info, epoch, intent, state, marked, now, head = row
        stood = (epoch, intent, state)
        new_head = _insert_turn_row(
            conversation_id, load_column(info) or {}, stood, sql.read_time(now), head, code, is_marked=bool(marked)
        )
        cursor.execute(
            f"UPDATE ce_conversation SET chain_head = %s, {FREE_LEASE} WHERE conversation_id = %s",
            [new_head, sql.uuid_param(conversation_id)],
        )
        return True


def _find_release(conversation_id: str, head: str) -> int:
    """The release that the turn ran on, which is not the newest one for every conversation.

    The conversation still stands as the turn found it, so that the choice comes out as it did then.
    Where it cannot be repeated, the newest release of that time is returned.
    """
    newest = int(head.split(":", maxsplit=1)[0] or 0)
    row = CeConversation.objects.filter(pk=conversation_id).values(*_CHOSEN_BY).first()
    turns = CeConversationHistory.objects.filter(
        conversation_id=uuid.UUID(conversation_id), status__in=("OK", "BLOCKED")
    )
    last = turns.order_by("-turn_no").values_list("config_version", "facts").first()
    if row is None or last is None:
        return newest
    last_release, facts = last
    conversation = Conversation(conversation_id, **row)
    began = conversation.has_just_begun(load_column(facts) or {})
    try:
        return configuration().choose(head, conversation, last_release, has_just_begun=began)[0].config_version
    except (ConvEngineError, ValueError):
        return newest


def _read_beginning(info: Mapping[str, Any]) -> datetime | None:
    """When the turn of a lease began. Returns None if the lease has no readable time."""
    try:
        began = datetime.fromisoformat(info["startedAt"])
    except (KeyError, TypeError, ValueError):
        return None
    return began.replace(tzinfo=UTC) if began.tzinfo is None else began.astimezone(UTC)


def _insert_turn_row(
    conversation_id: str,
    info: Mapping[str, Any],
    stood: tuple[int, str, str],
    now: datetime,
    previous: bytes | None,
    code: str,
    *,
    is_marked: bool,
) -> bytes:
    """Write the FAILED row of a turn that did not end; returns the hash of its seal. Needs an open transaction.

    It has the events that the turn stored while it ran, its failure, and the interruption if a newer message had marked
    the turn before it died. The epoch, intent and state are those at which the session `stood`.
    """
    turn_id, turn_no = uuid.UUID(info["turnId"]), int(info["turnNo"])
    version = _find_release(conversation_id, str(info.get("head") or "0"))
    began = _read_beginning(info) or now
    epoch, intent, state = stood
    failure = {"reason": code, "message": _MESSAGES[code], "recoverable": True, "worker": info.get("worker")}
    events: list[tuple[Stage, Mapping[str, Any]]] = [
        (USER_INPUT, {"text": info.get("userText"), "inputParamKeys": info.get("inputParamNames")}),
        (ENGINE_UNKNOWN_FAILURE, failure),
    ]
    if is_marked:
        events.append((SESSION_LIFECYCLE, build_event(RUNNING, INTERRUPTED, "interrupted", turn_no)))
    header = {
        "conversation_id": uuid.UUID(conversation_id),
        "turn_id": turn_id,
        "turn_no": turn_no,
        "created_at": began,
        "status": TurnStatus.FAILED.value,
        "source": TURN,
        "error_code": code,
        "error_message": _MESSAGES[code],
        "intent_before": intent,
        "state_before": state,
        "intent_code": intent,
        "state_code": state,
        "config_version": version,
        "duration_ms": None,
        "context_epoch": epoch,
        "replayable": False,
        "replay_note": "The turn died before its recording was written.",
        "user_input": info.get("userText"),
        "assistant_output": None,
        "facts": None,
        "recording": None,
    }
    release = configuration().content_hash(version)
    inserts, head = turn_log().insert_dead_turn_stmts(header, events, now, previous and bytes(previous), release)
    delete = Statement("DELETE FROM ce_running_event WHERE turn_id = %s", [dialect().uuid_param(turn_id)])
    for statement in (*inserts, delete):
        execute(statement)
    return head


def report_open_executions() -> Iterator[Counts]:
    """Record the dead turns of open claims, and count the claims that wait for a person."""
    # A younger claim belongs to a running turn.
    before = database_time() - timedelta(minutes=1)
    claims = CePendingActionExecution.objects.filter(status="CLAIMED", started_at__lt=before)
    for claim in claims.select_related("conversation").order_by("id").iterator():
        if recover_expired_lease(str(claim.conversation_id)):
            yield {"dead turns recorded": 1}
        elif is_turn_running(claim):
            continue
        log.warning("action needs a decision", execution=claim.pk, action=claim.action_key)
        yield {"waiting for a person": 1}


JOB = Job(
    "open_executions",
    "Check open actions",
    "Records turns that ended unexpectedly during an action. Counts the actions whose outcome a person must record.",
    Every(900),
    report_open_executions,
)
