"""Whether a database answers, and what happens to those who wait for it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import structlog
from psycopg.pq import TransactionStatus

from convengine.server.database.postgresql import watch
from convengine.server.database.postgresql.watch import DatabaseWatch, list_conninfo, probe, probe_hosts
from tests.live.processes import free_port


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    short = {"SUSPICIOUS_SECONDS": 0.1, "ANSWER_SECONDS": 0.2, "_TICK": 0.02, "_PAUSE": 0.05, "_PAUSE_WHILE_DOWN": 0.05}
    for name, seconds in short.items():
        monkeypatch.setattr(watch, name, seconds)


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts connections and says nothing, as a server that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def serve_error(server: socket.socket, message: bytes) -> None:
    """Answer one connection as PostgreSQL refuses it."""
    connection, _ = server.accept()
    with connection:
        connection.recv(1024)
        body = b"SFATAL\0VFATAL\0C53300\0M" + message + b"\0\0"
        connection.sendall(b"E" + (len(body) + 4).to_bytes(4, "big") + body)
        connection.recv(1024)


def conninfo(port: int) -> str:
    return f"host=127.0.0.1 port={port} dbname=x user=x password=x sslmode=disable gssencmode=disable"


def test_a_server_that_says_nothing_does_not_answer(silent: int) -> None:
    assert probe(conninfo(silent)) == "The database gave no answer within 0.2 seconds."


def serve_login(server: socket.socket, answer: bytes) -> None:
    """Let one client in, as a pooler does whose database is out, and answer its statement."""
    connection, _ = server.accept()
    with connection:
        connection.recv(1024)
        connection.sendall(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
        connection.recv(1024)
        connection.sendall(answer)
        connection.recv(1024)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", "The database gave no answer within 0.2 seconds."),
        (b"E\0\0\0\x12SFATAL\0Mgone\0\0Z\0\0\0\x05I", "FATAL:  gone"),
    ],
)
def test_a_pooler_whose_database_is_out_does_not_answer(answer: bytes, problem: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve_login, args=(server, answer), daemon=True).start()

        assert probe(conninfo(server.getsockname()[1])) == problem


def test_a_server_that_is_not_there_refuses() -> None:
    assert "refused" in probe(conninfo(free_port()))


@pytest.mark.parametrize(
    ("message", "answers"),
    [
        (b"sorry, too many clients already", True),
        (b"tut mir leid, schon zu viele Verbindungen", True),
        (b"the database system is starting up", False),
        (b"das Datenbanksystem startet", False),
    ],
)
def test_a_server_without_room_answers_and_one_that_starts_does_not(message: bytes, answers: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_error, args=(server, message))
        thread.start()
        problem = probe(conninfo(server.getsockname()[1]))
        thread.join()

    assert (problem == "") is answers


def test_each_host_is_asked_until_one_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = list_conninfo({"host": "a,b,c", "port": "1,2,3", "dbname": "d", "context": object(), "autocommit": True})
    asked: list[str] = []

    def answer(host: str) -> str:
        asked.append(host)
        return "" if "host=b" in host else "no"

    monkeypatch.setattr(watch, "probe", answer)

    assert probe_hosts(hosts) == ""
    assert asked == ["host=a port=1 dbname=d", "host=b port=2 dbname=d"]
    assert list_conninfo({"dbname": "d"}) == ["dbname=d"]


class Lent:
    """A connection whose server says nothing."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.pgconn = SimpleNamespace(transaction_status=TransactionStatus.UNKNOWN)

    def fileno(self) -> int:
        return self.ours.fileno()


def test_a_query_that_waits_for_a_silent_database_ends_and_later_ones_fail_at_once(silent: int) -> None:
    one, dropped = DatabaseWatch(), threading.Event()
    one.start([conninfo(silent)], dropped.set)
    connection: Any = Lent()
    with connection.ours, connection.theirs:
        one.lend(connection)
        connection.ours.settimeout(60)
        # It would wait for ever.
        assert connection.ours.recv(1) == b""

    assert dropped.wait(60)
    with pytest.raises(psycopg.OperationalError, match="no answer"), one.waiting():
        pass


def test_a_thread_that_is_patient_waits_as_long_as_it_takes(silent: int) -> None:
    one = DatabaseWatch()
    one.start([conninfo(silent)], lambda: None)
    connection: Any = Lent()

    def wait_patiently() -> None:
        watch.be_patient()
        with one.waiting():
            one.lend(connection)

    with connection.ours, connection.theirs:
        thread = threading.Thread(target=wait_patiently)
        thread.start()
        thread.join()
        connection.ours.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.ours.recv(1)


def test_outside_of_servers_nobody_watches() -> None:
    one = DatabaseWatch()
    one.problem = "down"

    with one.waiting():
        one.lend(object())
    assert (one._lent, one._since) == ({}, {})


def test_a_watch_that_cannot_look_looks_again_and_refuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    one, calls = DatabaseWatch(), list[str]()

    def fail(hosts: list[str]) -> str:
        calls.append("look")
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(watch, "probe_hosts", fail)
    one.problem = "down"
    one.start([], lambda: None)
    deadline = time.monotonic() + 60
    while len(calls) < 3 and time.monotonic() < deadline:
        one.problem = one.problem or "down"
        time.sleep(0.01)

    assert len(calls) >= 3
    while one.problem and time.monotonic() < deadline:
        time.sleep(0.01)
    with one.waiting():
        pass


@pytest.mark.parametrize(("status", "ends"), [(TransactionStatus.IDLE, False), (TransactionStatus.UNKNOWN, True)])
def test_a_database_that_answers_others_meanwhile_is_only_slow(
    silent: int, monkeypatch: pytest.MonkeyPatch, status: TransactionStatus, ends: bool
) -> None:
    one, slow, other = DatabaseWatch(), Lent(), SimpleNamespace(pgconn=SimpleNamespace(transaction_status=status))
    real = watch.probe_hosts

    def probe_while_another_is_answered(hosts: list[str]) -> str:
        one.lend(other)
        problem = real(hosts)
        one.give_back(other)
        return problem

    monkeypatch.setattr(watch, "probe_hosts", probe_while_another_is_answered)
    one.start([conninfo(silent)], lambda: None)
    with slow.ours, slow.theirs:
        one.lend(slow)
        slow.ours.settimeout(60 if ends else 1)
        if ends:
            assert slow.ours.recv(1) == b""
        else:
            with pytest.raises(TimeoutError):
                slow.ours.recv(1)


@pytest.mark.parametrize(
    "message",
    [
        'password authentication failed for user "convengine"',
        "Passwort-Authentifizierung für Benutzer »convengine« fehlgeschlagen",
        "la autentificación password falló para el usuario «convengine»",
        'no pg_hba.conf entry for host "192.0.2.1"',
    ],
)
def test_a_database_that_refuses_the_password_leaves_open_connections_alone(message: str) -> None:
    one, dropped, slow = DatabaseWatch(), threading.Event(), Lent()
    connection: Any = slow
    with socket.create_server(("127.0.0.1", 0)) as server, structlog.testing.capture_logs() as logs:

        def refuse() -> None:
            with suppress(OSError):
                while True:
                    serve_error(server, message.encode())

        threading.Thread(target=refuse, daemon=True).start()
        one.start([conninfo(server.getsockname()[1])], dropped.set)
        with slow.ours, slow.theirs:
            one.lend(connection)
            assert not dropped.wait(0.5)
            one.give_back(connection)
        with one.waiting():
            # No connection is open: nobody waits for one.
            assert dropped.wait(60)
        with pytest.raises(psycopg.OperationalError), one.waiting():
            pass
    # Where the test's own server has to wait for a processor, a look may find no answer at all.
    assert "database refuses user or password" in [line["event"] for line in logs]
