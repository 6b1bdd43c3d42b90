"""A receiver that fails half of the time, and senders that are killed: every event arrives, in order, signed."""

import json
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import connection
from standardwebhooks import Webhook

from convengine.engine.turn.turn import TurnRequest
from convengine.server.turns.take_turn import take_turn
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.convengine.server.webhooks.conftest import MakeWebhook
from tests.live.processes import ROOT, database_url

TURNS = int(os.environ.get("CE_TEST_WEBHOOK_TURNS", "1000"))
KILLS = int(os.environ.get("CE_TEST_WEBHOOK_KILLS", "200"))
CONVERSATIONS = 25
SECONDS = 300

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.nightly, pytest.mark.dialects]


@dataclass
class Receiver:
    """Verifies every request, and takes half of them."""

    secret: str
    address: str = ""
    #: Event IDs by conversation, in the order in which they were taken.
    taken: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    requests: int = 0
    faults: list[str] = field(default_factory=list)
    _chance: random.Random = field(default_factory=lambda: random.Random(3))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: bytes, headers: dict[str, str]) -> int:
        """The status of the answer."""
        with self._lock:
            self.requests += 1
            try:
                Webhook(self.secret).verify(body, headers)
            except Exception as error:
                self.faults.append(str(error))
            if self._chance.random() < 0.5:
                return 503
            self.taken[json.loads(body)["data"]["conversationId"]].append(headers["webhook-id"])
            return 200


@contextmanager
def receive(secret: str) -> Iterator[Receiver]:
    receiver = Receiver(secret)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            if len(body) < int(headers["content-length"]):
                # The sender died in the middle of its request.
                self.close_connection = True
                return
            status = receiver.take(body, headers)
            # So that a sender dies after its event was taken, and before it knows.
            time.sleep(0.05)
            try:
                self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    listener.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    receiver.address = f"http://127.0.0.1:{listener.server_port}"
    threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield receiver
    finally:
        listener.shutdown()
        listener.server_close()


@pytest.mark.usefixtures("workshop")
def test_every_event_arrives_in_order_though_senders_are_killed(make_webhook: MakeWebhook) -> None:
    hook = make_webhook()
    with receive(hook.secret) as receiver:
        CeWebhook.objects.update(url=receiver.address)
        environment = {**os.environ, "DATABASE_URL": database_url(), "CE_WEBHOOK_PRIVATE_HOSTS": "127.0.0.1"}
        command = [sys.executable, "-m", "tests.convengine.server.webhooks.sending", str(KILLS)]
        began = time.monotonic()
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as sender:
            try:
                take_turns()
                taking = time.monotonic() - began
                assert sender.stdout is not None
                assert sender.stdout.readline() == "killed\n"
                wait_until_sent()
            finally:
                sender.kill()
        check(receiver)
        print(
            f"{connection.vendor}: {TURNS} turns in {taking:.0f} s, {KILLS} kills, {CeWebhookDelivery.objects.count()} "
            f"events, {receiver.requests} requests, {sum(map(len, receiver.taken.values()))} taken, "
            f"all sent after {time.monotonic() - began:.0f} s"
        )


def take_turns() -> None:
    """Forms that are given up, again and again, in conversations that take turns."""
    keys = [str(uuid.uuid4()) for _ in range(CONVERSATIONS)]
    texts = ("sell my bicycle", "x", "y", "z")
    for number in range(TURNS):
        answer: Any = take_turn(TurnRequest(keys[number % CONVERSATIONS], texts[number // CONVERSATIONS % 4]))
        assert answer.error is None


def wait_until_sent() -> None:
    end = time.monotonic() + SECONDS
    while left := CeWebhookDelivery.objects.exclude(status="SENT").count():
        assert time.monotonic() < end, f"{left} deliveries were not sent"
        time.sleep(0.1)


def check(receiver: Receiver) -> None:
    assert receiver.faults == []
    expected = defaultdict[str, list[str]](list)
    for row in CeWebhookDelivery.objects.order_by("pk"):
        expected[row.conversation_id].append(str(row.event_id))
    # The first arrival of each event. Its ID shows a repetition.
    assert {key: list(dict.fromkeys(ids)) for key, ids in receiver.taken.items()} == expected
    assert sum(map(len, expected.values())) >= TURNS // 4
