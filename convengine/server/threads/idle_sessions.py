"""The periodic job that ends idle sessions.

Threads only: a conversation of the plain turn API never times out. A session is idle since its last message; exactly at
a limit it is still within it.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction

from convengine.engine.dialogue.hand_over import is_kept_for_person
from convengine.engine.threads.lifecycle import build_event, check_move
from convengine.engine.threads.settings import RESUME_MODE, STALE_TIMEOUT_DAYS, TIMEOUT_MINUTES
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.database.sql import database_time, dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.threads.hand_over import handed_over_sql
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.webhooks.write import store_ends

#: Sessions per transaction: a message for one of them waits for that long, on SQLite every turn does.
BATCHES = {"postgresql": 50, "sqlite": 20}
#: Written exactly like the partial index, which databases would not use otherwise.
_OPEN_ON_A_THREAD = "NOT (channel = 'api') AND NOT (lifecycle IN ('COMPLETE', 'ABORTED'))"


@dataclass(frozen=True)
class Limits:
    """How long sessions of one channel may be idle."""

    stale: timedelta
    #: None if the user is asked on return instead (`offer_resume`).
    timeout: timedelta | None
    #: Whether sessions that were handed over wait for a person, without a time-out.
    has_desk: bool

    @classmethod
    def of(cls, snapshot: Snapshot, channel: str) -> "Limits":
        """The limits of the current settings."""
        offers_resume = live_settings.read(snapshot, RESUME_MODE, channel).value == "offer_resume"
        minutes = live_settings.read(snapshot, TIMEOUT_MINUTES, channel).value
        stale = timedelta(days=live_settings.read(snapshot, STALE_TIMEOUT_DAYS).value)
        has_desk = is_kept_for_person(snapshot, handed_over=True)
        return cls(stale, None if offers_resume else timedelta(minutes=minutes), has_desk)

    @property
    def shortest(self) -> timedelta:
        """A session that is idle for less than this goes on."""
        return self.stale if self.timeout is None else min(self.stale, self.timeout)

    def reason(self, idle: timedelta) -> str | None:
        """Why a session with this idle time ends: `stale` or `timeout`. Returns None if it goes on.

        A message that comes before the job does finds the same out by `IdleLimits.find_reason`.
        """
        if idle > self.stale:
            return "stale"
        return "timeout" if self.timeout is not None and idle > self.timeout else None


class _IdleSession(NamedTuple):
    conversation_id: str
    lifecycle: str
    last_turn_no: int
    version: int
    idle_since: datetime
    #: A turn that died holds its lease.
    leased: bool


def close_idle_sessions() -> Iterator[Counts]:
    """End idle sessions, channel by channel, longest idle first."""
    channel = ""
    while channel := _next_channel(channel):
        yield from _close_channel(channel)


def _next_channel(after: str) -> str:
    """The next channel with open sessions, or blank. Each is one index look-up."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT channel FROM ce_conversation WHERE {_OPEN_ON_A_THREAD} AND channel > %s ORDER BY channel LIMIT 1",
            [after],
        )
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def _close_channel(channel: str) -> Iterator[Counts]:
    while True:
        snapshot, now = configuration().current(), database_time()
        limits = Limits.of(snapshot, channel)
        desk_limit = limits.stale if limits.has_desk else limits.shortest
        idle_sessions = _find_idle_sessions(channel, now - limits.shortest, now - desk_limit)
        ended = 0
        for reason in ("stale", "timeout"):
            ending = [
                session
                for session in idle_sessions
                if not session.leased and limits.reason(now - session.idle_since) == reason
            ]
            ended += _abort_sessions(ending, reason, now, snapshot.config_version) if ending else 0
        # The record of a dead turn must be written first; the next round ends the session.
        buried = sum(recover_expired_lease(session.conversation_id) for session in idle_sessions if session.leased)
        if not ended and not buried:
            return
        yield {"closed": ended, **({"dead turns recorded": buried} if buried else {})}


def _find_idle_sessions(channel: str, before: datetime, handed_over_before: datetime) -> list[_IdleSession]:
    sql = dialect()
    times = [sql.time_param(time) for time in (before, before, handed_over_before)]
    with connection.cursor() as cursor:
        cursor.execute(idle_sessions_sql(), [channel, *times])
        rows = cursor.fetchall()
    return [
        _IdleSession(str(uuid.UUID(str(key))), lifecycle, turn_no, version, sql.read_time(at), bool(held))
        for key, lifecycle, turn_no, version, at, held in rows
    ]


def idle_sessions_sql() -> str:
    """The statement that finds them: of one channel, idle since a time or longer, without waiting turns.

    The last parameter is the time for those that were handed over to a person.
    """
    now = dialect().now()
    return f"""
        SELECT conversation_id, lifecycle, last_turn_no, version, COALESCE(last_message_at, created_at),
               lease_token IS NOT NULL
          FROM ce_conversation c
         WHERE {_OPEN_ON_A_THREAD} AND channel = %s AND updated_at <= %s AND COALESCE(last_message_at, created_at) <= %s
           AND (COALESCE(last_message_at, created_at) <= %s OR NOT {handed_over_sql()})
           AND (lease_token IS NULL OR lease_expires_at < {now})
           AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                            WHERE t.conversation_id = c.conversation_id AND t.expires_at > {now})
         ORDER BY updated_at LIMIT {BATCHES[dialect().vendor]}"""


def _abort_sessions(ending: Sequence[_IdleSession], reason: str, now: datetime, config_version: int) -> int:
    """Move sessions to ABORTED with an event, and return how many: those that are unchanged.

    Two short statements, because writers of these sessions wait for them, on SQLite all writers.
    """
    sql, by_key = dialect(), {uuid.UUID(session.conversation_id): session for session in ending}
    for session in ending:
        check_move(session.lifecycle, Lifecycle.ABORTED)
    # A locked row has a new message.
    lock = " FOR UPDATE SKIP LOCKED" if sql.vendor == "postgresql" else ""
    pairs = " OR ".join(["(conversation_id = %s AND version = %s AND last_turn_no = %s)"] * len(ending))
    params: list[Any] = [dumps({"reason": reason, "at": now.isoformat()})]
    for session in ending:
        params += [sql.uuid_param(session.conversation_id), session.version, session.last_turn_no]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lifecycle = 'ABORTED', lifecycle_detail = {sql.json}, updated_at = {sql.now()},
                       version = version + 1
                 WHERE conversation_id IN (SELECT conversation_id FROM ce_conversation
                                            WHERE ({pairs}) AND lease_token IS NULL{lock})
             RETURNING conversation_id""",
            params,
        )
        moved = [by_key[uuid.UUID(str(key))] for (key,) in cursor.fetchall()]
        if moved:
            events = [
                (
                    session.conversation_id,
                    SESSION_LIFECYCLE,
                    build_event(session.lifecycle, Lifecycle.ABORTED, reason, session.last_turn_no),
                )
                for session in moved
            ]
            turn_log().add_outside(events, now, config_version)
            ended = [session.conversation_id for session in moved]
            store_ends(ended, Lifecycle.ABORTED, reason, now, config_version)
    return len(moved)


JOB = Job(
    "close_sessions",
    "Close idle sessions",
    (
        "Ends sessions that are idle for longer than “New session after idle minutes” (if late users get a new "
        "session) or “Always a new session after idle days” in the settings."
    ),
    Every(60),
    close_idle_sessions,
)
