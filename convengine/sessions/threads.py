"""Threads: finding or making the session that a message belongs to (sessions 4).

Two messages that arrive at once make one session: the database holds one open session a thread, and whoever loses reads
again. The end of the old session and the begin of the new one are one transaction.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction

from convengine import conf
from convengine.continuity.lifecycle import CLOSED
from convengine.continuity.resolve import Latest, Reason, resolve
from convengine.domain import settings
from convengine.domain.catalogue.session import ON_CONCURRENT_TURN
from convengine.domain.enums import Lifecycle
from convengine.errors import ConversationClosed, TurnConflict, TurnInProgress
from convengine.sessions import idempotency, tickets
from convengine.sessions.clock import database_time
from convengine.sessions.drift import is_another_topic
from convengine.sessions.ending import LAST, Seen, end
from convengine.sessions.failed import bury
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.interrupting import interrupt
from convengine.sessions.lease import Answered
from convengine.sessions.sql import dialect
from convengine.sessions.waiting import wait

#: How often a message looks again after another one was faster.
_ATTEMPTS = 20
_CLOSED = ", ".join(f"'{state.value}'" for state in sorted(CLOSED))


@dataclass(frozen=True)
class Thread:
    """Everything one participant says on one channel of one workspace."""

    workspace_id: str
    channel: str
    remote_jid: str
    #: The prefix of the API key that calls: a session that it begins is its.
    opener: str | None = None

    @property
    def columns(self) -> list[str]:
        """The three columns, in the order of the index."""
        return [self.workspace_id, self.channel, self.remote_jid]


@dataclass(frozen=True)
class Resolved:
    """The session of a message, and why it is that one."""

    session_id: str
    reason: Reason
    #: The session that it follows in its thread.
    previous_id: str | None = None
    #: That one ended because nobody wrote for days, by this message or by the job that closes.
    after_stale: bool = False

    @property
    def decision(self) -> str:
        """`new` or `continue`."""
        return "new" if self.reason.is_new else "continue"


class _Lost(Exception):
    """Somebody else was faster; nothing was written."""


def find_or_make(thread: Thread, message: str | None, key: IdempotencyKey | None = None) -> Resolved:
    """The session for a message. With a key, a message that was answered ends and begins none.

    Raises TurnInProgress where ending the old one would have to wait for too long; Answered, IdempotencyKeyReused.
    """
    for _ in range(_ATTEMPTS):
        if found := _attempt(thread, message, key):
            return found
    raise TurnConflict("The session of this thread changes all the time; send the message again.")


def _attempt(thread: Thread, message: str | None, key: IdempotencyKey | None) -> Resolved | None:
    snapshot = conf.load("SNAPSHOT").current()
    seen, now = _newest(thread)
    latest = Latest(seen.lifecycle, seen.last_message_at, seen.offered) if seen else None
    known = seen is not None or _is_known(thread)
    reason = resolve(snapshot, thread.channel, message, latest, now, known=known)
    if seen and reason is Reason.WITHIN_TIMEOUT and is_another_topic(snapshot, seen.session_id, message):
        reason = Reason.TOPIC_DRIFT
    if seen and not reason.is_new:
        return Resolved(seen.session_id, reason, seen.previous_id)
    if made := _begun(thread, seen, reason, now, key):
        stale = reason is Reason.STALE or (reason is Reason.SESSION_CLOSED and seen is not None and seen.stale)
        return Resolved(made, reason, seen.session_id if seen else None, stale)
    return _when_free(thread, seen, reason, key) if seen and _is_taken(seen) else None


def _is_taken(seen: Seen) -> bool:
    """True when a turn runs in an open session, or waits to."""
    if seen.lifecycle in CLOSED:
        return False
    queue = tickets.look(seen.session_id, LAST)
    return queue.held or queue.ahead > 0


def _newest(thread: Thread) -> tuple[Seen | None, datetime]:
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT conversation_id, lifecycle, COALESCE(last_message_at, created_at), last_turn_no,
                       previous_session_id, {here.member("lifecycle_detail", "resume")} IS NOT NULL,
                       lifecycle = 'ABORTED' AND {here.member("lifecycle_detail", "reason")} = '{Reason.STALE.value}',
                       {here.now()}
                  FROM ce_conversation WHERE workspace_id = %s AND channel = %s AND remote_jid = %s
                 ORDER BY CASE WHEN lifecycle IN ({_CLOSED}) THEN 1 ELSE 0 END, created_at DESC LIMIT 1""",
            thread.columns,
        )
        if row := cursor.fetchone():
            key, lifecycle, at, turn_no, previous, offered, stale, now = row
            before, since = str(uuid.UUID(str(previous))) if previous else None, here.read_time(at)
            seen = Seen(str(uuid.UUID(str(key))), lifecycle, since, turn_no, before, bool(offered), bool(stale))
            return seen, here.read_time(now)
    return None, database_time()


def _is_known(thread: Thread) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_thread WHERE workspace_id = %s AND channel = %s AND remote_jid = %s", thread.columns
        )
        return cursor.fetchone() is not None


def _begun(
    thread: Thread,
    seen: Seen | None,
    reason: Reason,
    now: datetime,
    key: IdempotencyKey | None,
    ticket: int | None = None,
) -> str | None:
    """End what is open and begin the next session; null when somebody was faster, or a turn runs. Raises Answered."""
    ends = seen is not None and seen.lifecycle not in CLOSED
    try:
        with transaction.atomic():
            if seen and ends and not end(seen, Lifecycle.ABORTED, reason.value, now, ticket=ticket):
                raise _Lost
            # The session before may be the one in which the first call with this key was answered meanwhile.
            if key and (body := idempotency.find(key)) is not None:
                raise Answered(body)
            return _inserted(thread, seen)
    except _Lost:
        return None


def _inserted(thread: Thread, before: Seen | None) -> str:
    here, session_id = dialect(), str(uuid.uuid4())
    with connection.cursor() as cursor:
        if before is None:
            cursor.execute(
                f"INSERT INTO ce_thread (workspace_id, channel, remote_jid, created_at) VALUES (%s, %s, %s, "
                f"{here.now()}) ON CONFLICT DO NOTHING",
                thread.columns,
            )
        cursor.execute(
            f"""INSERT INTO ce_conversation
                    (conversation_id, status, intent_code, state_code, context_json, input_params_json, created_at,
                     updated_at, last_message_at, version, last_turn_no, turn_count, context_epoch, workspace_id,
                     channel, remote_jid, lifecycle, lifecycle_detail, context_summary, preferences,
                     previous_session_id, opened_by)
                VALUES (%s, 'RUNNING', 'UNKNOWN', 'UNKNOWN', '{{}}', '{{}}', {here.now()}, {here.now()}, {here.now()},
                        0, 0, 0, 0, %s, %s, %s, 'RUNNING', '{{}}', '', '{{}}', %s, %s)
                ON CONFLICT DO NOTHING""",
            [here.uuid(session_id), *thread.columns, here.uuid(before.session_id) if before else None, thread.opener],
        )
        if not cursor.rowcount:
            raise _Lost
    return session_id


def _when_free(thread: Thread, seen: Seen, reason: Reason, key: IdempotencyKey | None) -> Resolved | None:
    """The same when the turn that runs is over, in order of arrival; null when the session is another by then."""
    if bury(seen.session_id):
        return None
    policy = settings.read(conf.load("SNAPSHOT").current(), ON_CONCURRENT_TURN, thread.workspace_id).value
    repeated = idempotency.runs(key, seen.session_id)
    if policy == "reject" and not repeated:
        raise TurnInProgress()

    def take(ticket: int) -> str | None:
        newest, at = _newest(thread)
        if newest is None or newest.session_id != seen.session_id or newest.lifecycle in CLOSED:
            raise ConversationClosed()
        return _begun(thread, newest, reason, at, key, ticket)

    stops = policy == "interrupt" and not repeated
    look: Any = partial(interrupt, seen.session_id, str(uuid.uuid4()), None) if stops else lambda: None
    try:
        made = wait(seen.session_id, take, look)
        return Resolved(made, reason, seen.session_id, reason is Reason.STALE)
    except ConversationClosed:
        return None
