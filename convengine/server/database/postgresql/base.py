"""Where Django looks for a backend's `DatabaseWrapper`."""

import select
from collections import deque
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """After a restart of the database, no call gets a dead connection, and none waits for the pool to notice.

    The pool's own check (`CONN_HEALTH_CHECKS`) costs a round trip per request. It also replaces dead connections one at
    a time with doubling pauses: half a minute for six of them.
    """

    @property
    def pool(self) -> Any:
        """The process's pool, which lends the most recently returned connection; null without one."""
        pool = super().pool
        if pool is not None and type(pool._pool) is deque:
            pool._pool = _LastFirst(pool._pool)
        return pool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A live connection. If one is dead, all waiting ones are checked at once.

        Raises `OperationalError` when the database cannot be reached.
        """
        connection = super().get_new_connection(conn_params)
        if self.pool is None or not _was_written_to(connection):
            return connection
        try:
            self.pool.check_connection(connection)
        except psycopg.OperationalError:
            self.pool.putconn(connection)
            self.pool.check()
            connection = super().get_new_connection(conn_params)
        return connection


class _LastFirst(deque[Any]):
    """Idle connections, most recent first, because it has warm caches on the server too.

    Round robin, as the pool does it, costs an idle server a sixth more per call.
    """

    def popleft(self) -> Any:
        """The most recently returned connection."""
        return self.pop()


def _was_written_to(connection: psycopg.Connection[Any]) -> bool:
    """True when the server sent something without a query, which usually means that it closed the connection."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
