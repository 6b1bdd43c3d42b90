"""An installation under load whose processes die, or are replaced: nobody is refused, and no turn fails."""

import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException

import pytest

from convengine.server.sessions.models import CeConversationHistory
from tests.api import make_key
from tests.live import ledger
from tests.live.client import TURN, Talk
from tests.live.processes import Server, database_url, find_children, free_port, start
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="finds the processes through /proc")]
#: Turns of the restart under load; more with CE_TEST_TURNS.
TURNS = int(os.environ.get("CE_TEST_TURNS", "600"))
CLIENTS = 8


@pytest.fixture
def server(transactional_db: None) -> Iterator[Server]:
    """`serve` with two processes for turns."""
    create_help_desk()
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "2", "--streams-port", "0"]
    running = start(command, port, {**os.environ, "DATABASE_URL": database_url(), "CE_JOBS_IN_PROCESS": "false"})
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.end()


class KeptConnection:
    """A client that keeps its connection, unless the server asks it to connect again."""

    def __init__(self, port: int, secret: str) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Api-Key {secret}", "Content-Type": "application/json"}
        self._conversation = str(uuid.uuid4())

    def say(self, message: str) -> int:
        body = json.dumps({"conversationId": self._conversation, "message": message})
        self._http.request("POST", TURN, body, self._headers)
        response = self._http.getresponse()
        response.read()
        return response.status

    def close(self) -> None:
        self._http.close()


def wait_for_log(server: Server, text: str, count: int = 1, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while server.text().count(text) < count:
        assert time.monotonic() < deadline, server.text()
        time.sleep(0.05)


def wait_for_ends(server: Server, processes: set[int]) -> None:
    deadline = time.monotonic() + 20
    while processes & set(find_children(server.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_restart_under_load_fails_no_turn(server: Server) -> None:
    """Half of the clients connect for each turn, half keep their connection."""
    secret, left, lock = make_key(), iter(range(TURNS)), threading.Lock()
    talks = [Talk(secret) for _ in range(CLIENTS // 2)]
    failures: list[object] = []
    done = threading.Event()

    def take_turn() -> bool:
        with lock:
            return next(left, None) is not None

    def connect_each_time(talk: Talk) -> None:
        while take_turn():
            reply = talk.say(server.port, "hours")
            if reply is None or reply.status != 200:
                failures.append(reply)

    def keep_connection(client: KeptConnection) -> None:
        with closing(client):
            while take_turn():
                try:
                    failures.extend(status for status in [client.say("hours")] if status != 200)
                except (OSError, HTTPException) as error:
                    failures.append(error)
                    client.close()

    def restart_again_and_again() -> int:
        restarts = 0
        while not done.is_set():
            os.kill(server.pid, signal.SIGHUP)
            wait_for_log(server, "restart done", restarts + 1)
            restarts += 1
            done.wait(3)
        return restarts

    before = set(find_children(server.pid))
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        began = time.monotonic()
        clients = [pool.submit(connect_each_time, talk) for talk in talks]
        clients += [pool.submit(keep_connection, KeptConnection(server.port, secret)) for _ in range(CLIENTS // 2)]
        restarting = pool.submit(restart_again_and_again)
        for client in clients:
            client.result()
        seconds = time.monotonic() - began
        done.set()
        restarts = restarting.result()

    print(f"{TURNS} turns, {restarts} restarts, {seconds:.0f} s, {len(failures)} failures")
    assert failures == []
    assert restarts >= 1
    wait_for_ends(server, before)
    assert CeConversationHistory.objects.filter(status="OK").count() == TURNS
    assert server.text().count("process ended") == 0
    ledger.check(talks)


def test_workers_that_die_again_and_again_do_not_end_the_installation(server: Server) -> None:
    """Five deaths of a server process in a few seconds; the other one answers."""
    talk = Talk(make_key())
    victim = find_children(server.pid)[0]
    other = next(child for child in find_children(server.pid) if child != victim)
    deadline = time.monotonic() + 90
    # Who was killed is a child until the server has seen it, so the server counts the deaths.
    while server.text().count("process ended; restarting it") < 5 and time.monotonic() < deadline:
        for child in find_children(server.pid):
            if child != other:
                os.kill(child, signal.SIGKILL)
        talk.say(server.port, "hours")
        time.sleep(0.1)

    assert server.process.poll() is None
    wait_for_log(server, "process ended; restarting it", 5)
    lines = [json.loads(line) for line in server.text().splitlines() if "process ended" in line]
    assert [line["pause_seconds"] for line in lines] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert {line["signal"] for line in lines} == {"SIGKILL"}
    reply = talk.say(server.port, "hours")
    assert reply
    assert reply.status == 200
    os.kill(server.pid, signal.SIGTERM)
    assert server.process.wait(20) == 0
