"""32 conversations at once with a model that takes three seconds, on two processes, and cheap turns beside them."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from audit.models import CeLlmCallLog
from config_admin.models import CeResponse
from tests.api import make_key
from tests.fakes.openai_server import Says, model_server
from tests.live import ledger
from tests.live.client import Reply, Talk
from tests.live.processes import Server
from tests.live.written import written_desk

CONVERSATIONS, MODEL_SECONDS, POOL = 32, 3.0, 2
Servers = Callable[..., list[Server]]


def milliseconds(talk: Talk, ports: list[int], count: int) -> list[float]:
    """How long each of so many cheap turns took, one after the other, on both processes in turn."""
    took = []
    for number in range(count):
        started = time.perf_counter()
        reply = talk.say(ports[number % len(ports)], "hours")
        took.append((time.perf_counter() - started) * 1000)
        assert reply
        assert reply.said == "Nine to five."
    return took


def in_use() -> tuple[int, int]:
    """Connections of others to this database, and how many of them are in a transaction; only PostgreSQL tells."""
    if connection.vendor != "postgresql":
        return 0, 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE xact_start IS NOT NULL) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        found: tuple[int, int] = cursor.fetchone()
        return found


@pytest.mark.long
def test_32_conversations_wait_for_a_model_and_hold_no_connection_and_no_transaction(
    servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    written_desk()
    CeResponse.objects.filter(intent_code="HOURS").update(
        response_type="EXACT", output_format="TEXT", exact_text="Nine to five.", json_schema=None
    )
    of_the_test, _ = in_use()
    with model_server(Says("No fees.", seconds=MODEL_SECONDS)) as model:
        # A pool of two: were a connection held for each that waits, the others would never get one.
        two = servers(2, threads=24, CE_LLM_BASE_URL=model.url, CE_LLM_MODEL="slow", CE_DATABASE_POOL_SIZE=str(POOL))
        ports, secret = [server.port for server in two], make_key()
        talks, cheap = [Talk(secret) for _ in range(CONVERSATIONS)], Talk(secret)
        alone = milliseconds(cheap, ports, 20)

        with ThreadPoolExecutor(CONVERSATIONS) as pool:

            def ask(number: int) -> Reply | None:
                return talks[number].say(ports[number % 2], "fees")

            started = time.monotonic()
            waiting = [pool.submit(ask, number) for number in range(CONVERSATIONS)]
            while model.waiting < CONVERSATIONS:
                assert time.monotonic() < started + 2 * MODEL_SECONDS, f"only {model.waiting} came as far as the model"
                time.sleep(0.01)
            connections, transactions = in_use()
            assert transactions == 0
            assert connections - of_the_test <= POOL * len(two)
            assert model.waiting == CONVERSATIONS
            beside = milliseconds(cheap, ports, 20)
            still = model.waiting
            replies = [one.result() for one in waiting]
            took = time.monotonic() - started

    assert {reply.said if reply else None for reply in replies} == {"No fees."}
    assert model.most == CONVERSATIONS
    assert took < 3 * MODEL_SECONDS
    assert max(beside) < MODEL_SECONDS * 1000
    assert CeLlmCallLog.objects.filter(success=True).count() == CONVERSATIONS
    assert ledger.check([*talks, cheap]) == {"OK": CONVERSATIONS + 40}
    with capsys.disabled():
        print(
            f"\ncheap turns: median {statistics.median(alone):.1f} ms alone, {statistics.median(beside):.1f} ms beside "
            f"{CONVERSATIONS} that wait for a model ({still} of them till the end); all {CONVERSATIONS} in {took:.1f} s"
        )
