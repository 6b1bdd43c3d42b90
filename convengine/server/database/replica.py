"""Read the record from a replica of the database: its age is limited, and pages show it.

Only pages that are marked with `reads_record` do so, and only for the tables of the record. Everything else, and every
turn, uses the primary.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import structlog
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.connection import ConnectionDoesNotExist

from convengine.server.deployment import conf

log = structlog.get_logger(__name__)
REPLICA = "replica"
#: The tables that are read there.
TABLES = frozenset(
    {
        "ce_audit", "ce_conversation", "ce_conversation_history", "ce_llm_call_log", "ce_memory", "ce_thread",
        "ce_thread_part", "ce_turn_index",
    }
)  # fmt: skip
#: How often, and after which seconds, a replica that is a moment behind is asked again.
_LOOKS, _PAUSE = 5, 0.02
#: Seconds for which a replica that does not answer is left alone.
_REST = 5.0

_reading: ContextVar[bool] = ContextVar("reads the record from a replica", default=False)


class RecordRouter:
    """The router of the replica: it reads the record there while a page allows it. It never writes there."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        """The replica, or null for the usual database."""
        return REPLICA if _reading.get() and model._meta.db_table in TABLES else None

    def db_for_write(self, model: Any, **hints: Any) -> str | None:
        """The primary, also for a row that came from the replica."""
        instance = hints.get("instance")
        return DEFAULT_DB_ALIAS if instance is not None and instance._state.db == REPLICA else None

    def allow_relation(self, first: Any, second: Any, **hints: Any) -> bool | None:
        """Rows of both are rows of one database."""
        return True if REPLICA in (first._state.db, second._state.db) else None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """The replica gets its tables from the primary."""
        return False if db == REPLICA else None


def reads_record(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a page read the record from the replica. `request.record_as_of` says how old that is, for the template.

    Without a replica, or with one that is out or too far behind, it reads the primary, as it does when something is
    sent to it.
    """

    @wraps(view)
    def view_record(request: HttpRequest, *args: Any, **options: Any) -> HttpResponseBase:
        as_of = find_replica_time() if request.method in ("GET", "HEAD") else None
        if as_of is None:
            return view(request, *args, **options)
        request.record_as_of = as_of  # type: ignore[attr-defined]
        try:
            with _read_replica():
                response = view(request, *args, **options)
                if hasattr(response, "render"):
                    response.render()
                if response.streaming:
                    response.streaming_content = _stream(response.streaming_content)  # type: ignore[attr-defined]
                return response
        except (OperationalError, InterfaceError) as error:
            # It went away, or has to remove what the page reads.
            log.warning("replica not read, the primary is", error=str(error))
            connections[REPLICA].close()
            request.record_as_of = None  # type: ignore[attr-defined]
            return view(request, *args, **options)

    return view_record


class _Rest:
    """Until when this process leaves a replica alone."""

    until = 0.0


def find_replica_time() -> datetime | None:
    """The time whose record the replica has at least, by the primary's clock.

    Returns None when it should not be read.
    """
    if not is_configured() or time.monotonic() < _Rest.until or connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return None
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_flush_lsn()::text, clock_timestamp()")
        position, now = cursor.fetchone()
    try:
        replayed_until = _read_replayed_time(position, now)
    except (OperationalError, InterfaceError) as error:
        log.warning("replica out of reach, the primary is read", error=str(error))
        _Rest.until = time.monotonic() + _REST
        connections[REPLICA].close()
        return None
    limit = timedelta(seconds=conf.get("REPLICA_MAX_LAG_SECONDS"))
    return replayed_until if replayed_until and now - replayed_until <= limit else None


def is_configured() -> bool:
    try:
        return connections[REPLICA].vendor == "postgresql"
    except ConnectionDoesNotExist:
        return False


def _read_replayed_time(position: str, now: datetime) -> datetime | None:
    """The time up to which the replica has everything. Returns None if the server is not a replica."""
    statement = (
        "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::text::pg_lsn, pg_last_xact_replay_timestamp()"
    )
    for look in range(_LOOKS):
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(statement, [position])
            is_replica, has_all, replayed_until = cursor.fetchone()
        if not is_replica:
            return None
        if has_all:
            return now
        if look < _LOOKS - 1:
            time.sleep(_PAUSE)
    return replayed_until  # type: ignore[no-any-return]


@contextmanager
def _read_replica() -> Iterator[None]:
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def _stream(parts: Iterable[Any]) -> Iterator[Any]:
    """The parts of an answer that is computed while it is sent."""
    rest = iter(parts)
    while True:
        with _read_replica():
            try:
                part = next(rest)
            except StopIteration:
                return
        yield part
