"""A server beside twenty receivers and a model service that are slow or broken: everybody else is served as before."""

import json
import os
import signal
import statistics
import threading
import time
import uuid
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any

import pytest

from convengine.server.database.sql import database_time
from convengine.server.jobs.models import CeJob
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import create_secret
from tests.api import make_key
from tests.fakes.http_server import Reply, serving
from tests.fakes.strangers import NAMES, Stranger, meet
from tests.live.client import Talk
from tests.live.processes import Server
from tests.live.test_hung_model import ROW_TEXT, make_desk, measure_hello
from tests.pace import allow

pytestmark = pytest.mark.nightly
Servers = Callable[..., list[Server]]
EVENTS, EVENTS_OF_OTHERS, SECONDS = 192, 24, 10.0
#: Longer than a receiver's deadline, so that calls end and begin again while the others are measured.
MEASURED_SECONDS = 30.0


def make_hook(name: str, url: str, events: int) -> None:
    """A webhook with events of as many conversations that wait."""
    hook = CeWebhook.objects.create(name=name, url=url, events=["conversation.ended"], secret=create_secret())
    now = database_time()
    CeWebhookDelivery.objects.bulk_create(
        CeWebhookDelivery(
            webhook=hook,
            event_id=uuid.uuid4(),
            event="conversation.ended",
            conversation_id=str(uuid.uuid4()),
            body=json.dumps({"type": "conversation.ended", "data": {"x": "x" * 2000}}),
            next_attempt_at=now,
            created_at=now,
        )
        for _ in range(events)
    )


def read_jobs_part(server: Server) -> str:
    http = HTTPConnection("127.0.0.1", server.port, timeout=10)
    http.request("GET", "/readyz?strict=true")
    part: str = json.loads(http.getresponse().read())["parts"]["jobs"]
    http.close()
    return part


def wait_for_events(count: Callable[[], int]) -> float:
    """The seconds until all events of the good receiver have come."""
    began = time.monotonic()
    while count() < EVENTS:
        assert time.monotonic() - began < 60, f"{count()} of {EVENTS} events came in a minute"
        time.sleep(0.02)
    return time.monotonic() - began


def test_strangers_stop_neither_events_nor_jobs_nor_turns(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    make_desk()
    with meet(*NAMES, "drips a header", pause=1.0) as (*receivers, model), serving(Reply()) as good:
        (server,) = servers(
            1,
            CE_JOBS_IN_PROCESS="true",
            CE_JOB_TICK_SECONDS="1",
            CE_WEBHOOK_PRIVATE_HOSTS="127.0.0.1",
            CE_LLM_CONNECTIONS=json.dumps({"slow": {"base_url": model.address, "models": ["m"]}}),
        )
        hello = Talk(make_key())
        measure_hello(hello, server.port, 2)
        alone = measure_hello(hello, server.port, 10)
        for name, receiver in zip(NAMES, receivers, strict=True):
            make_hook(name, receiver.address, EVENTS_OF_OTHERS)
        make_hook("good", good.address, EVENTS)
        CeJob.objects.filter(name="send_webhooks").update(due_at=database_time())
        arrived = wait_for_events(lambda: len(good.asked))
        beside = measure_hello(hello, server.port, MEASURED_SECONDS)
        jobs = read_jobs_part(server)
        answer, stopped = stop_within_a_turn(server, model)
    p95 = [statistics.quantiles(values, n=20)[-1] for values in (alone, beside)]
    with capsys.disabled():
        print(
            f"\n{EVENTS} events beside {len(NAMES)} strangers in {arrived:.1f} s; hello p95 {p95[0]:.0f} ms alone, "
            f"{p95[1]:.0f} ms beside; jobs {jobs}; stopped in {stopped:.1f} s"
        )

    assert arrived <= allow(SECONDS)
    assert len({asked.headers["webhook-id"] for asked in good.asked}) == len(good.asked) == EVENTS
    assert all(receiver.asked for receiver in receivers)
    assert jobs == "ok"
    assert p95[1] <= max(2 * p95[0], 50)
    assert stopped <= allow(15)
    assert answer == ROW_TEXT


def stop_within_a_turn(server: Server, model: Stranger) -> tuple[Any, float]:
    """The answer to a turn that waits for the model when the server is stopped, and the seconds until it has ended."""
    answers: list[Any] = []
    talk = Talk(make_key())

    def ask() -> None:
        reply = talk.say(server.port, "fees")
        answers.append(reply and reply.said)

    turn = threading.Thread(target=ask)
    turn.start()
    while not model.asked:
        time.sleep(0.02)
    time.sleep(1)
    began = time.monotonic()
    os.kill(server.pid, signal.SIGTERM)
    server.process.wait(60)
    stopped = time.monotonic() - began
    turn.join(10)
    return answers[0], stopped
