"""Find or make the session that a message belongs to.

Two simultaneous messages make one session: the database allows one open session per thread, and the loser reads again.
The old session ends and the new one begins in one transaction.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import connection, transaction

from convengine.engine.dialogue.hand_over import HANDED_OVER, is_kept_for_person
from convengine.engine.errors import TurnConflict, TurnInProgress
from convengine.engine.text.compare import truthy
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.threads.resolve import LatestSession, ResolveReason, resolve_session
from convengine.engine.threads.settings import ON_CONCURRENT_TURN
from convengine.engine.turn import live_settings
from convengine.engine.turn.enums import Lifecycle
from convengine.server.database.signed_rows import prove_columns
from convengine.server.database.sql import database_time, dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import list_previous, prove_identity
from convengine.server.sessions.participants import insert_parts
from convengine.server.threads.end_session import ObservedSession, end_session
from convengine.server.threads.topic_drift import is_another_topic
from convengine.server.turns import idempotency, waiting
from convengine.server.turns.acquire import AlreadyAnswered
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.interruption import interrupt_running_turn
from convengine.server.turns.waiting import LAST_TICKET, wait_for_lease

#: How often a message tries again after another one was faster.
_ATTEMPTS = 20
_CLOSED = ", ".join(f"'{state.value}'" for state in sorted(CLOSED))


@dataclass(frozen=True)
class Thread:
    """Everything one participant says on one channel of one workspace."""

    workspace_id: str
    channel: str
    remote_jid: str
    #: The prefix of the calling API key, which owns a session that it begins.
    opener: str | None = None

    @property
    def columns(self) -> list[str]:
        """The three columns, in the order of the index."""
        return [self.workspace_id, self.channel, self.remote_jid]


@dataclass(frozen=True)
class ResolvedSession:
    session_id: str
    reason: ResolveReason
    #: The session before it in the thread.
    previous_id: str | None = None
    #: That one ended because nobody wrote for days, by this message or by the job.
    after_stale: bool = False


@dataclass(frozen=True)
class _Attempt:
    """How the wait for the running turn ended; without a session if another one was begun or this one ended."""

    session_id: str | None


class _RaceLost(Exception):
    """Another message was faster; nothing was written."""


def find_or_begin_session(thread: Thread, message: str | None, key: IdempotencyKey | None = None) -> ResolvedSession:
    """The session for a message. With the key of an answered call, no session ends or begins.

    Raises TurnInProgress when ending the old one would take too long, AlreadyAnswered,
    IdempotencyKeyReused.
    """
    for _ in range(_ATTEMPTS):
        if resolved := _try_to_resolve(thread, message, key):
            return resolved
    raise TurnConflict("The session of this thread kept changing. Send the message again.")


def _try_to_resolve(thread: Thread, message: str | None, key: IdempotencyKey | None) -> ResolvedSession | None:
    seen, now = _read_newest_session(thread)
    reason = _find_reason(thread, seen, message, now)
    if seen and not reason.is_new:
        return ResolvedSession(seen.session_id, reason, seen.previous_id)
    if session_id := _begin_session(thread, seen, reason, now, key):
        stale = reason is ResolveReason.STALE or (
            reason is ResolveReason.SESSION_CLOSED and seen is not None and seen.stale
        )
        return ResolvedSession(session_id, reason, seen.session_id if seen else None, stale)
    return _begin_when_free(thread, seen, reason, key) if seen and _is_busy(seen) else None


def _find_reason(thread: Thread, seen: ObservedSession | None, message: str | None, now: datetime) -> ResolveReason:
    """Why the message goes on in the newest session, or begins another."""
    snapshot = configuration().current()
    with_person = seen is not None and is_kept_for_person(snapshot, seen.handed_over)
    latest = LatestSession(seen.lifecycle, seen.last_message_at, seen.offered, with_person) if seen else None
    known = seen is not None or _thread_exists(thread)
    reason = resolve_session(snapshot, thread.channel, message, latest, now, known=known)
    may_drift = reason is ResolveReason.WITHIN_TIMEOUT and not with_person
    if seen and may_drift and is_another_topic(snapshot, seen.session_id, message):
        return ResolveReason.TOPIC_DRIFT
    return reason


def _is_busy(seen: ObservedSession) -> bool:
    """True when a turn runs or waits in an open session."""
    if seen.lifecycle in CLOSED:
        return False
    queue = waiting.read_queue(seen.session_id)
    return queue.held or queue.ahead > 0


def _read_newest_session(thread: Thread) -> tuple[ObservedSession | None, datetime]:
    sql = dialect()
    end_reason = sql.json_member("lifecycle_detail", "reason")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT conversation_id, lifecycle, COALESCE(last_message_at, created_at), last_turn_no,
                       previous_session_id, {sql.json_member("lifecycle_detail", "resume")} IS NOT NULL,
                       lifecycle = 'ABORTED' AND {end_reason} = '{ResolveReason.STALE.value}',
                       {sql.json_member("context_json", HANDED_OVER)}, {sql.now()}
                  FROM ce_conversation WHERE workspace_id = %s AND channel = %s AND remote_jid = %s
                 ORDER BY CASE WHEN lifecycle IN ({_CLOSED}) THEN 1 ELSE 0 END, created_at DESC LIMIT 1""",
            thread.columns,
        )
        if row := cursor.fetchone():
            key, lifecycle, at, turn_no, previous, offered, stale, handed_over, now = row
            before, since = str(uuid.UUID(str(previous))) if previous else None, sql.read_time(at)
            seen = ObservedSession(
                str(uuid.UUID(str(key))),
                lifecycle,
                since,
                turn_no,
                before,
                bool(offered),
                bool(stale),
                truthy(handed_over),
            )
            return seen, sql.read_time(now)
    return None, database_time()


def _thread_exists(thread: Thread) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_thread WHERE workspace_id = %s AND channel = %s AND remote_jid = %s", thread.columns
        )
        return cursor.fetchone() is not None


def _begin_session(
    thread: Thread,
    seen: ObservedSession | None,
    reason: ResolveReason,
    now: datetime,
    key: IdempotencyKey | None,
    ticket: int = LAST_TICKET,
) -> str | None:
    """End the open session and begin the next. Returns None when another message was faster, or a turn runs.

    Raises AlreadyAnswered.
    """
    ends = seen is not None and seen.lifecycle not in CLOSED
    try:
        with transaction.atomic():
            if seen and ends and not end_session(seen, Lifecycle.ABORTED, reason.value, now, ticket=ticket):
                raise _RaceLost
            # The first call with this key may have been answered meanwhile in the session before.
            if key and (body := idempotency.find_answer(key)) is not None:
                raise AlreadyAnswered(body)
            return _insert_session(thread, seen)
    except _RaceLost:
        return None


def _insert_session(thread: Thread, before: ObservedSession | None) -> str:
    sql, session_id = dialect(), str(uuid.uuid4())
    with connection.cursor() as cursor:
        if before is None:
            cursor.execute(
                f"INSERT INTO ce_thread (workspace_id, channel, remote_jid, created_at, proof) VALUES (%s, %s, %s, "
                f"{sql.now()}, %s) ON CONFLICT DO NOTHING RETURNING id",
                [*thread.columns, prove_columns("ce_thread", thread.columns)],
            )
            if inserted := cursor.fetchone():
                insert_parts(cursor, inserted[0], thread.remote_jid)
        cursor.execute(
            f"""INSERT INTO ce_conversation
                    (conversation_id, status, intent_code, state_code, context_json, input_params_json, created_at,
                     updated_at, last_message_at, version, last_turn_no, turn_count, context_epoch, workspace_id,
                     channel, remote_jid, lifecycle, lifecycle_detail, context_summary, preferences,
                     previous_session_id, opened_by, proof)
                VALUES (%s, 'RUNNING', 'UNKNOWN', 'UNKNOWN', '{{}}', '{{}}', {sql.now()}, {sql.now()}, {sql.now()},
                        0, 0, 0, 0, %s, %s, %s, 'RUNNING', '{{}}', '', '{{}}', %s, %s, %s)
                ON CONFLICT DO NOTHING""",
            [
                sql.uuid_param(session_id),
                *thread.columns,
                sql.uuid_param(before.session_id) if before else None,
                thread.opener,
                prove_identity(
                    session_id, *thread.columns, thread.opener, *list_previous(before.session_id if before else None)
                ),
            ],
        )
        if not cursor.rowcount:
            raise _RaceLost
    return session_id


def _begin_when_free(
    thread: Thread, seen: ObservedSession, reason: ResolveReason, key: IdempotencyKey | None
) -> ResolvedSession | None:
    """Begin the session once the running turn has ended; callers wait in order of arrival.

    Returns None if the session changed in the meantime.
    """
    if recover_expired_lease(seen.session_id):
        return None
    policy = live_settings.read(configuration().current(), ON_CONCURRENT_TURN, thread.workspace_id).value
    repeated = idempotency.is_running(key, seen.session_id)
    if policy == "reject" and not repeated:
        raise TurnInProgress()

    begin = partial(_begin_after, thread, seen.session_id, reason, key)
    interrupt = partial(interrupt_running_turn, seen.session_id, str(uuid.uuid4()), None)
    attempt = wait_for_lease(seen.session_id, begin, interrupt if policy == "interrupt" and not repeated else None)
    if attempt is None or attempt.session_id is None:
        return None
    return ResolvedSession(attempt.session_id, reason, seen.session_id, reason is ResolveReason.STALE)


def _begin_after(
    thread: Thread, before: str, reason: ResolveReason, key: IdempotencyKey | None, ticket: int
) -> _Attempt | None:
    """Returns None while the running turn keeps the session."""
    newest, at = _read_newest_session(thread)
    if newest is None or newest.session_id != before or newest.lifecycle in CLOSED:
        return _Attempt(None)
    session_id = _begin_session(thread, newest, reason, at, key, ticket)
    return _Attempt(session_id) if session_id else None
