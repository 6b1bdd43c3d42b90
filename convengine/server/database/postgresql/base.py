"""Where Django looks for a backend's `DatabaseWrapper`."""

import select
from collections import deque
from typing import Any
from weakref import WeakSet, ref

import psycopg

# Django imports it with the first connection: two threads of a new process at once failed on half of it.
import psycopg_pool  # noqa: F401
from django.db.backends.postgresql import base
from django.db.utils import OperationalError

from convengine.server.database.postgresql.watch import list_conninfo, watch_of

#: Connections whose last commit is on the leader only.
_unreplicated: WeakSet[Any] = WeakSet()


class DatabaseWrapper(base.DatabaseWrapper):
    """After a restart of the database, no call gets a dead connection, and none waits for the pool to notice.

    The pool's own check (`CONN_HEALTH_CHECKS`) costs a round trip per request. It also replaces dead connections one at
    a time with doubling pauses: half a minute for six of them.
    """

    @property
    def pool(self) -> Any:
        """The process's pool, which lends the most recently returned connection; None without one."""
        try:
            pool = super().pool
        except KeyError:
            # The watch has dropped it since Django looked.
            pool = super().pool
        if pool is not None and type(pool._pool) is deque:
            pool._pool = _LastFirst(pool._pool)
        return pool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A live connection. If one is dead, all waiting ones are checked at once.

        Raises `OperationalError` when the database cannot be reached.
        """
        watch = watch_of(self.alias)
        with watch.waiting():
            connection = super().get_new_connection(conn_params)
            watch.lend(connection)
            if self.pool is None or not _was_written_to(connection):
                return connection
            try:
                self.pool.check_connection(connection)
            except psycopg.OperationalError:
                watch.give_back(connection)
                # The watch may have replaced the pool meanwhile: the new one is not open yet, and refuses it.
                pool = connection._pool
                pool.putconn(connection)
                if not pool.closed:
                    pool.check()
                connection = super().get_new_connection(conn_params)
                watch.lend(connection)
            return connection

    def _close(self) -> None:
        if self.connection is not None:
            watch_of(self.alias).give_back(self.connection)
        super()._close()  # type: ignore[misc]

    def start_watch(self) -> None:
        """Let callers fail within two seconds when the database does not answer; called once in a server process."""
        watch_of(self.alias).start(list_conninfo(self.get_connection_params()), self._drop_pool)

    def _drop_pool(self) -> None:
        """Give an error to threads that wait for a connection. The next thread makes a new pool."""
        pool = self._connection_pools.pop(self.alias, None)  # type: ignore[attr-defined]
        if pool is not None:
            pool.close(timeout=0)

    def refuse_unreplicated_commit(self) -> None:
        """Raises OperationalError if the last commit was cancelled while it waited for the synchronous replica.

        PostgreSQL only warns: the commit is on the leader, and a fail-over may lose it.
        """
        if _unreplicated and self.connection in _unreplicated:
            _unreplicated.discard(self.connection)
            raise OperationalError("The commit was not confirmed by the synchronous replica.")

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self.refuse_unreplicated_commit()

    def _configure_connection(self, connection: Any) -> Any:
        connection.add_notice_handler(_NoticeHandler(connection))
        return super()._configure_connection(connection)  # type: ignore[misc]


class _NoticeHandler:
    """Notes commits whose wait for the synchronous replica was cancelled."""

    def __init__(self, connection: Any) -> None:
        self._connection = ref(connection)

    def __call__(self, diagnostic: Any) -> None:
        # The text of the warning is in the server's language.
        connection = self._connection()
        if diagnostic.source_function == "SyncRepWaitForLSN" and connection is not None:
            _unreplicated.add(connection)


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
