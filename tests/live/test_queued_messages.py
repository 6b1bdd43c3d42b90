"""Servers are killed while messages wait: each accepted one has one turn, and a conversation keeps its order."""

import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversationHistory
from tests.api import make_key
from tests.live.client import post
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.worlds import create_help_desk

pytestmark = pytest.mark.long
CONVERSATIONS, MESSAGES, KILLS = 8, 12, 4
ENVIRONMENT = {"CE_JOBS_IN_PROCESS": "true", "CE_JOB_TICK_SECONDS": "1"}


def test_every_accepted_message_has_one_turn_in_its_order_whatever_dies(
    servers: Callable[..., list[Server]],
) -> None:
    create_help_desk()
    configure("Session/LEASE_SECONDS", 5)
    secret, running = make_key(), servers(2, **ENVIRONMENT)
    talks = [str(uuid.uuid4()) for _ in range(CONVERSATIONS)]

    def send_all(talk: str) -> None:
        for number in range(MESSAGES):
            send(talk, number)

    def send(talk: str, number: int) -> None:
        body = {"conversationId": talk, "message": f"hours {number}"}
        while True:
            for server in tuple(running):
                reply = post(
                    server.port, secret, body, Prefer="respond-async", **{"Idempotency-Key": f"{talk} {number}"}
                )
                if reply:
                    assert reply.status in (200, 202), reply.body
                    return

    with ThreadPoolExecutor(CONVERSATIONS) as pool:
        sending = [pool.submit(send_all, talk) for talk in talks]
        for number in range(KILLS):
            time.sleep(0.4)
            running[number % 2].kill()
            running[number % 2] = servers(1, **ENVIRONMENT)[0]
        for each in sending:
            each.result()
    wait_for_answers()
    for talk in talks:
        turns = CeConversationHistory.objects.filter(conversation_id=talk, status="OK").order_by("turn_no")
        assert [turn.user_input for turn in turns] == [f"hours {number}" for number in range(MESSAGES)]
    assert set(CeQueuedMessage.objects.values_list("status", flat=True)) == {OutboxStatus.SENT.value}


def wait_for_answers() -> None:
    until = time.monotonic() + 120
    while waiting := CeQueuedMessage.objects.filter(status=OutboxStatus.PENDING).count():
        assert time.monotonic() < until, f"{waiting} messages still wait."
        time.sleep(0.2)
