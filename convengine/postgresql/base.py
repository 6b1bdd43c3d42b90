"""Where Django looks for a backend's `DatabaseWrapper`."""

import select
from collections import deque
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """After a restart of the database, no call meets a dead connection, and none waits for the pool to find out.

    The pool can look by itself (`CONN_HEALTH_CHECKS`), but at a round trip for every request, and it takes its dead
    connections one at a time and waits in between, twice as long after each: with six of them half a minute.
    """

    @property
    def pool(self) -> Any:
        """The process's pool, which lends the connection that came back last; null without one."""
        pool = super().pool
        if pool is not None and type(pool._pool) is deque:
            pool._pool = _LastFirst(pool._pool)
        return pool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection that lives. When one is dead, those that wait beside it are looked at too, all at once.

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
    """Connections at rest. The one that worked a moment ago has everything at hand, in the server's caches too.

    Taken in turn, as the pool does, they cost an idle server a sixth more for each call.
    """

    def popleft(self) -> Any:
        """The connection that came last."""
        return self.pop()


def _was_written_to(connection: psycopg.Connection[Any]) -> bool:
    """True when the server sent something to a connection that asked nothing: its farewell, as a rule."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
