"""A PostgreSQL that is stopped, or hangs, under a real server: 503 at once, and recovery by itself."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

from tests.live.client import Talk
from tests.live.own_postgres import Cluster, serve_demonstration, start_cluster
from tests.live.processes import Server
from tests.pace import allow

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="stops processes found in /proc")]
#: Seconds within which each call must be answered.
LIMIT = 2.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def installation(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """One for all tests: each leaves it recovered."""
    with serve_demonstration(cluster, tmp_path_factory.mktemp("installation")) as installation:
        yield installation


def call_for(seconds: float, server: Server, secret: str, clients: int = 6) -> list[tuple[float, int, str, str]]:
    """Turns by several clients at once: seconds, status, code and Retry-After of each."""
    answers: list[tuple[float, int, str, str]] = []
    deadline = time.monotonic() + seconds

    def talk_on() -> None:
        while time.monotonic() < deadline:
            talk, began = Talk(secret), time.monotonic()
            reply = talk.say(server.port, "hello")
            took = time.monotonic() - began
            assert reply, "no answer"
            answers.append((took, reply.status, reply.body["errorCode"] or "", reply.headers.get("Retry-After", "")))
            time.sleep(0.05)

    threads = [threading.Thread(target=talk_on) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def open_page(server: Server) -> tuple[float, int, str, str]:
    began = time.monotonic()
    http = HTTPConnection("127.0.0.1", server.port, timeout=60)
    # A session's cookie makes the page read the database.
    http.request("GET", "/admin/", headers={"Cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"})
    response = http.getresponse()
    text = response.read().decode()
    http.close()
    return time.monotonic() - began, response.status, text, response.headers.get("Retry-After", "")


def check_outage(server: Server, secret: str) -> None:
    """Everything fails at once and plainly."""
    answers = call_for(6, server, secret)
    slowest = max(took for took, *_ in answers)
    print(f"{len(answers)} calls, slowest {slowest:.2f} s")
    assert {answer[1:] for answer in answers} == {(503, "CONVERSATION_PERSIST_FAILED", "1")}, answers
    assert slowest < allow(LIMIT)
    took, status, text, retry_after = open_page(server)
    assert (status, retry_after) == (503, "5")
    assert took < allow(LIMIT)
    assert "The database does not answer" in text


def check_recovery(server: Server, secret: str) -> None:
    began = time.monotonic()
    while (reply := Talk(secret).say(server.port, "hello")) is None or reply.status != 200:
        assert time.monotonic() - began < 15, server.text()
        time.sleep(0.1)
    print(f"recovered after {time.monotonic() - began:.1f} s")
    assert {answer[1] for answer in call_for(2, server, secret)} == {200}
    assert open_page(server)[1] in (200, 302)
    # Nothing was started again for that.
    assert "process ended" not in server.text()


def test_a_database_that_is_stopped(installation: tuple[Server, str], cluster: Cluster) -> None:
    assert {answer[1] for answer in call_for(1, *installation)} == {200}

    cluster.stop()
    check_outage(*installation)
    cluster.start()

    check_recovery(*installation)


def test_a_database_that_hangs(installation: tuple[Server, str], cluster: Cluster) -> None:
    assert {answer[1] for answer in call_for(1, *installation)} == {200}

    cluster.signal_all(signal.SIGSTOP)
    try:
        check_outage(*installation)
    finally:
        cluster.signal_all(signal.SIGCONT)

    check_recovery(*installation)


@pytest.mark.nightly
def test_a_database_that_is_only_slow_is_not_taken_for_one_that_hangs(
    installation: tuple[Server, str], cluster: Cluster
) -> None:
    """All connections wait for a lock for longer than a hanging database would be given."""
    import psycopg

    server, secret = installation
    with psycopg.connect(cluster.url) as other, ThreadPoolExecutor(4) as pool:
        other.execute("LOCK TABLE ce_conversation IN ACCESS EXCLUSIVE MODE")
        running = [pool.submit(Talk(secret).say, server.port, "hello") for _ in range(4)]
        time.sleep(4)
        other.rollback()
        replies = [each.result() for each in running]

    assert [reply and reply.status for reply in replies] == [200] * 4
    assert "database does not answer" not in server.text()
