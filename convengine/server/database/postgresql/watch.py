"""Notice in server processes within two seconds that the database does not answer, and let its callers fail at once.

A database that was stopped refuses connections, but the pool would wait half a minute. One that hangs, or whose machine
is gone, answers nothing: no timeout of the server itself can help. So a thread looks at the connections that are lent
out or waited for. When one takes long, it asks the database for a connection of its own. If that gets no answer, it
ends the connections that wait, and callers get an error until the database answers again.
"""

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import psycopg
import structlog
from psycopg.pq import ConnStatus, ExecStatus, PGconn, PollingStatus, TransactionStatus

from convengine.server.database.sql import is_sign_in_refused

log = structlog.get_logger(__name__)

#: Seconds after which a connection that is lent or waited for is suspicious, and which a probe waits for each answer.
SUSPICIOUS_SECONDS, ANSWER_SECONDS = 0.5, 0.8
#: Seconds between two looks, between two probes while all is well, and while the database does not answer.
_TICK, _PAUSE, _PAUSE_WHILE_DOWN = 0.1, 0.6, 0.5
#: Answers of a database that is there, but takes no more connections: in English, and in the languages of its server.
_IS_FULL = (
    *(b"too many", b"remaining connection slots", b"no more connections"),
    *(b"zu viele Verbindungen", b"verbleibenden Verbindungen", b"trop de clients", b"trop de connexions"),
    *(b"demasiados clientes", b"demasiadas conexiones", b"troppi client", b"troppe connessioni"),
)
#: The states of a connection whose last statement was answered.
_ANSWERED = (TransactionStatus.IDLE, TransactionStatus.INTRANS, TransactionStatus.INERROR)
#: Parameters of psycopg that libpq does not know.
_NOT_OF_LIBPQ = frozenset({"autocommit", "context", "cursor_factory", "prepare_threshold", "row_factory", "pool"})


_patient = threading.local()


def be_patient() -> None:
    """Let this thread wait as long as it takes, as background jobs do."""
    _patient.on = True


class DatabaseWatch:
    """The connections of this process, and whether their database answers."""

    def __init__(self) -> None:
        self._since: dict[object, float] = {}
        self._lent: dict[object, Any] = {}
        self._thread: threading.Thread | None = None
        self._probe: Callable[[], str] = lambda: ""
        self._drop_pool: Callable[[], None] = lambda: None
        #: When a connection came back whose last statement was answered.
        self._answered = 0.0
        #: Why the database cannot be used; blank if it can.
        self.problem = ""
        self._is_sign_in_refused = False

    def start(self, conninfo_of_hosts: list[str], drop_pool: Callable[[], None]) -> None:
        """Watch from now on. `drop_pool` lets everybody fail who waits for a connection."""
        if self._thread is None:
            self._probe, self._drop_pool = lambda: probe_hosts(conninfo_of_hosts), drop_pool
            self._thread = threading.Thread(target=self._run, name="database watch", daemon=True)
            self._thread.start()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While this thread waits for a connection. Raises OperationalError if the database does not answer."""
        if self._is_off():
            yield
            return
        if self.problem:
            raise psycopg.OperationalError(self.problem)
        token = object()
        self._since[token] = time.monotonic()
        try:
            yield
        finally:
            del self._since[token]

    def lend(self, connection: Any) -> None:
        """This thread uses a connection from now on."""
        if not self._is_off():
            self._lent[id(connection)] = connection
            self._since[id(connection)] = time.monotonic()

    def give_back(self, connection: Any) -> None:
        """The connection is not used any more."""
        if self._lent.pop(id(connection), None) is not None:
            self._since.pop(id(connection), None)
            if connection.pgconn.transaction_status in _ANSWERED:
                self._answered = time.monotonic()

    def _is_off(self) -> bool:
        return self._thread is None or getattr(_patient, "on", False)

    def _run(self) -> None:
        while True:
            time.sleep(_TICK)
            before = time.monotonic() - SUSPICIOUS_SECONDS
            if self.problem or any(since < before for since in list(self._since.values())):
                try:
                    self._check()
                except Exception as error:
                    # Without this thread, a problem would last for ever.
                    self.problem = ""
                    log.error("database not watched", exc_info=error)
                time.sleep(_PAUSE_WHILE_DOWN if self.problem else _PAUSE - _TICK)

    def _check(self) -> None:
        began, before = time.monotonic(), self.problem
        problem = self._probe()
        if problem and not before and self._answered > began:
            # Somebody got an answer meanwhile: the database, or a pooler before it, is only slow.
            return
        if self._is_sign_in_refused != (is_refused := is_sign_in_refused(problem)):
            self._is_sign_in_refused = is_refused
            if is_refused:
                log.error("database refuses user or password", problem=problem)
        if is_refused and self._lent:
            # The password was changed: connections that are open work on.
            return
        self.problem = problem
        if problem:
            # Queries that wait for an answer fail at once, and so does everybody who waits for a connection.
            self._drop_pool()
            for connection in list(self._lent.values()):
                with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)
            if not before and not is_refused:
                log.error("database does not answer", problem=problem)
        elif before:
            # One that was made in the meantime waits longer and longer between its attempts.
            self._drop_pool()
            log.warning("database answers again")


def list_conninfo(parameters: Mapping[str, Any]) -> list[str]:
    """The connection string of each host that a connection may go to."""
    wanted = {key: value for key, value in parameters.items() if key not in _NOT_OF_LIBPQ and value is not None}
    hosts = str(wanted.get("host", "")).split(",")
    ports = str(wanted.get("port", "")).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    return [
        psycopg.conninfo.make_conninfo(**{**wanted, "host": host or None, "port": port or None})
        for host, port in zip(hosts, ports, strict=True)
    ]


def probe_hosts(conninfo_of_hosts: list[str]) -> str:
    """Blank if one of the hosts accepts a connection, otherwise what the last one said."""
    problem = ""
    for conninfo in conninfo_of_hosts:
        problem = probe(conninfo)
        if not problem:
            break
    return problem


def probe(conninfo: str) -> str:
    """Blank if the database accepts a connection, or would if it had room; otherwise why not."""
    connection = PGconn.connect_start(conninfo.encode())
    try:
        if connection.status == ConnStatus.BAD:
            return _describe(connection)
        wanted: int = PollingStatus.WRITING
        while True:
            wire = select.poll()
            wire.register(connection.socket, select.POLLIN if wanted == PollingStatus.READING else select.POLLOUT)
            # Only an answer that has not arrived counts, not the time that this process takes to read it.
            if not wire.poll(ANSWER_SECONDS * 1000):
                return f"The database gave no answer within {ANSWER_SECONDS} seconds."
            wanted = connection.connect_poll()
            if wanted == PollingStatus.OK:
                return _ask(connection)
            if wanted == PollingStatus.FAILED:
                return _describe(connection)
    finally:
        connection.finish()


def _ask(connection: Any) -> str:
    """Blank if it answers a statement: a pooler accepts connections while the database behind it is out."""
    wire = select.poll()
    wire.register(connection.socket, select.POLLIN)
    try:
        connection.send_query(b"SELECT 1")
        while connection.is_busy():
            if not wire.poll(ANSWER_SECONDS * 1000):
                return f"The database gave no answer within {ANSWER_SECONDS} seconds."
            connection.consume_input()
        result = connection.get_result()
    except psycopg.OperationalError:
        return _describe(connection)
    return "" if result is not None and result.status == ExecStatus.TUPLES_OK else _describe(connection)


def _describe(connection: Any) -> str:
    text: bytes = connection.error_message
    return "" if any(words in text for words in _IS_FULL) else text.decode(errors="replace").strip() or "unreachable"


@cache
def watch_of(alias: str) -> DatabaseWatch:
    """The one of this process for a database of the settings."""
    return DatabaseWatch()
