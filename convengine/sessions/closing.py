"""The periodic closer: ends sessions whose time ran out although nobody writes again (sessions 4, 9).

Threads only: a conversation of the plain turn API has no end of its own (R39). A session is idle since its last
message; exactly at a limit it is still within it.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction

from convengine import conf
from convengine.codec import dumps
from convengine.continuity.lifecycle import check, event
from convengine.domain import settings
from convengine.domain.catalogue.session import RESUME_MODE, STALE_TIMEOUT_DAYS, TIMEOUT_MINUTES
from convengine.domain.enums import Lifecycle
from convengine.domain.job import Counts, Every, Job
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.sessions.clock import database_time
from convengine.sessions.failed import bury
from convengine.sessions.sql import dialect

#: Sessions of one transaction: a message for one of them waits for that long, on SQLite every turn does.
BATCHES = {"postgresql": 50, "sqlite": 20}
#: Written as the partial index has it, or no database would use it.
_OPEN_ON_A_THREAD = "NOT (channel = 'api') AND NOT (lifecycle IN ('COMPLETE', 'ABORTED'))"


@dataclass(frozen=True)
class Limits:
    """How long sessions of one channel may be idle."""

    stale: timedelta
    #: Null where the user is asked on return instead (`offer_resume`).
    timeout: timedelta | None

    @classmethod
    def of(cls, snapshot: Snapshot, channel: str) -> "Limits":
        """As the settings say now."""
        asked = settings.read(snapshot, RESUME_MODE, channel).value == "offer_resume"
        minutes = settings.read(snapshot, TIMEOUT_MINUTES, channel).value
        stale = timedelta(days=settings.read(snapshot, STALE_TIMEOUT_DAYS).value)
        return cls(stale, None if asked else timedelta(minutes=minutes))

    @property
    def shortest(self) -> timedelta:
        """A session that is idle for less goes on."""
        return self.stale if self.timeout is None else min(self.stale, self.timeout)

    def reason(self, idle: timedelta) -> str | None:
        """Why a session that is idle for so long ends: `stale`, `timeout`; null when it does not."""
        if idle > self.stale:
            return "stale"
        return "timeout" if self.timeout is not None and idle > self.timeout else None


class _Found(NamedTuple):
    """A session that may have to end."""

    conversation_id: str
    lifecycle: str
    last_turn_no: int
    version: int
    idle_since: datetime
    #: A turn that died holds its lease.
    leased: bool


def close_idle() -> Iterator[Counts]:
    """End what is idle for too long, channel by channel, the longest idle first."""
    channel = ""
    while channel := _next_channel(channel):
        yield from _close_channel(channel)


def _next_channel(after: str) -> str:
    """The next channel that has open sessions; blank at the end. Each is one look into the index."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT channel FROM ce_conversation WHERE {_OPEN_ON_A_THREAD} AND channel > %s ORDER BY channel LIMIT 1",
            [after],
        )
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def _close_channel(channel: str) -> Iterator[Counts]:
    while True:
        snapshot, now = conf.load("SNAPSHOT").current(), database_time()
        limits = Limits.of(snapshot, channel)
        found = _idle(channel, now - limits.shortest)
        ended = 0
        for reason in ("stale", "timeout"):
            ending = [one for one in found if not one.leased and limits.reason(now - one.idle_since) == reason]
            ended += _end(ending, reason, now, snapshot.config_version) if ending else 0
        # What a dead turn left must be written first; the next round ends the session.
        buried = sum(bury(one.conversation_id) for one in found if one.leased)
        if not ended and not buried:
            return
        yield {"closed": ended, **({"dead turns recorded": buried} if buried else {})}


def _idle(channel: str, before: datetime) -> list[_Found]:
    """The longest idle sessions of a channel."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(idle_sql(), [channel, here.time(before), here.time(before)])
        rows = cursor.fetchall()
    return [
        _Found(str(uuid.UUID(str(key))), lifecycle, turn_no, version, here.read_time(at), bool(held))
        for key, lifecycle, turn_no, version, at, held in rows
    ]


def idle_sql() -> str:
    """The statement that finds them: of one channel, idle since a time or longer, nobody waiting for their turn."""
    now = dialect().now()
    return f"""
        SELECT conversation_id, lifecycle, last_turn_no, version, COALESCE(last_message_at, created_at),
               lease_token IS NOT NULL
          FROM ce_conversation c
         WHERE {_OPEN_ON_A_THREAD} AND channel = %s AND updated_at <= %s AND COALESCE(last_message_at, created_at) <= %s
           AND (lease_token IS NULL OR lease_expires_at < {now})
           AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                            WHERE t.conversation_id = c.conversation_id AND t.expires_at > {now})
         ORDER BY updated_at LIMIT {BATCHES[dialect().vendor]}"""


def _end(ending: Sequence[_Found], reason: str, now: datetime, config_version: int) -> int:
    """Move sessions to ABORTED, each with its event, and give how many: those that are as they were found.

    Two short statements and nothing between them: whoever writes to one of these sessions waits for no more, on SQLite
    everybody does.
    """
    here, by_key = dialect(), {uuid.UUID(one.conversation_id): one for one in ending}
    for one in ending:
        check(one.lifecycle, Lifecycle.ABORTED)
    # Whoever writes to one of them now has it.
    lock = " FOR UPDATE SKIP LOCKED" if here.vendor == "postgresql" else ""
    pairs = " OR ".join(["(conversation_id = %s AND version = %s AND last_turn_no = %s)"] * len(ending))
    params: list[Any] = [dumps({"reason": reason, "at": now.isoformat()})]
    for one in ending:
        params += [here.uuid(one.conversation_id), one.version, one.last_turn_no]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lifecycle = 'ABORTED', lifecycle_detail = {here.json}, updated_at = {here.now()},
                       version = version + 1
                 WHERE conversation_id IN (SELECT conversation_id FROM ce_conversation
                                            WHERE ({pairs}) AND lease_token IS NULL{lock})
             RETURNING conversation_id""",
            params,
        )
        moved = [by_key[uuid.UUID(str(key))] for (key,) in cursor.fetchall()]
        if moved:
            told = [(one.conversation_id, Stage.SESSION_LIFECYCLE, _told(one, reason)) for one in moved]
            conf.load("AUDIT_WRITER").outside(told, now, config_version)
    return len(moved)


def _told(one: _Found, reason: str) -> dict[str, Any]:
    return event(one.lifecycle, Lifecycle.ABORTED, reason, one.last_turn_no)


JOB = Job(
    "close_sessions",
    "Close idle sessions",
    "Ends sessions of threads that are idle longer than Session/TIMEOUT_MINUTES (where RESUME_MODE is new_session) or "
    "Session/STALE_TIMEOUT_DAYS.",
    Every(60),
    close_idle,
)
