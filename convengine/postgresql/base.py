"""Where Django looks for a backend's `DatabaseWrapper`."""

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """After a restart of the database, no call meets a dead connection, and none waits for the pool to find out.

    The pool can look by itself (`CONN_HEALTH_CHECKS`), but at a round trip for every request, and it takes its dead
    connections one at a time and waits in between, twice as long after each: with six of them half a minute.
    """

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


def _was_written_to(connection: psycopg.Connection[Any]) -> bool:
    """True when the server sent something to a connection that asked nothing: its farewell, as a rule."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
