"""Many clients at once on one conversation, in two server processes: nothing is lost, nothing happens twice."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from config_admin.models import CeConfig
from convengine.server.sessions.models import CeConversation, CeTurnTicket
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Exchange, Reply, Talk, post
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.worlds import create_help_desk

CLIENTS, RETRIES = 64, 16
MESSAGE = {"message": "hours", "inputParams": {"order": 7}}
Servers = Callable[..., list[Server]]


def at_once(count: int, call: Callable[[int], Reply | None]) -> list[Reply]:
    """Call from so many threads at the same moment; every call must get an answer."""
    gate = Barrier(count)

    def send(number: int) -> Reply | None:
        gate.wait()
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        replies = list(pool.map(send, range(count)))
    answered = [reply for reply in replies if reply]
    assert len(answered) == count
    return answered


@pytest.mark.long
@pytest.mark.parametrize(
    "threads",
    [pytest.param(4, id="queue_at_the_server", marks=pytest.mark.nightly), pytest.param(32, id="queue_at_the_lease")],
)
def test_64_clients_on_one_conversation_lose_no_update_and_get_consecutive_numbers(
    servers: Servers, threads: int
) -> None:
    create_help_desk()
    configure("Session/LEASE_WAIT_SECONDS", 60)
    two, talk = servers(2, threads=threads), Talk(make_key())

    replies = at_once(CLIENTS, lambda n: talk.say(two[n % 2].port, f"hours {n}", params={f"client_{n}": n}))

    assert {reply.status for reply in replies} == {200}
    assert sorted(reply.body["turnNo"] for reply in replies) == list(range(1, CLIENTS + 1))
    row = CeConversation.objects.get()
    assert {f"client_{n}": n for n in range(CLIENTS)}.items() <= row.input_params_json.items()
    assert ledger.check([talk]) == {"OK": CLIENTS}
    assert not CeTurnTicket.objects.exists()


def test_16_calls_with_one_key_are_one_turn_with_one_answer(servers: Servers) -> None:
    create_help_desk()
    two = servers(2, threads=8)
    for body in (MESSAGE, {**MESSAGE, "conversationId": str(uuid.uuid4())}):
        call_at_once_with_one_key(two, body)
    assert CeConversation.objects.count() == 2


def call_at_once_with_one_key(two: list[Server], body: dict[str, Any]) -> None:
    secret = make_key()

    replies = at_once(RETRIES, lambda n: post(two[n % 2].port, secret, body, **{"Idempotency-Key": "pay-once"}))

    assert {reply.status for reply in replies} == {200}
    assert all(reply.body == replies[0].body for reply in replies)
    assert [reply.headers.get("X-Idempotent-Replay") for reply in replies].count(None) == 1
    row = CeConversation.objects.get(pk=replies[0].body["conversationId"])
    assert (row.turn_count, row.last_turn_no) == (1, 1)
    ledger.check([Talk(secret, str(row.pk), [Exchange("hours", replies[0])])])


@pytest.mark.long
def test_calls_that_need_not_wait_are_refused_at_once(servers: Servers) -> None:
    create_help_desk()
    CeConfig.objects.create(config_type="Session", config_key="ON_CONCURRENT_TURN", config_value="reject")
    (server,), talk = servers(1, threads=8), Talk(make_key())

    replies = at_once(8, lambda n: talk.say(server.port, "hours"))

    done = [reply for reply in replies if reply.status == 200]
    refused = [reply for reply in replies if reply.status != 200]
    assert done
    assert {(reply.status, reply.body["errorCode"]) for reply in refused} <= {(409, "TURN_IN_PROGRESS")}
    assert {reply.headers.get("Retry-After") for reply in refused} <= {"1"}
    assert ledger.check([talk]) == {"OK": len(done)}
