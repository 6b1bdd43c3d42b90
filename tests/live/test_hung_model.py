"""A model that hangs beside turns that ask none, with 1,000 turns that want it, on two processes."""

import asyncio
import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from config_admin.models import CeResponse
from tests.api import make_key
from tests.fakes.openai_server import Says, model_server
from tests.live.client import TURN, Talk
from tests.live.processes import Server
from tests.live.test_unfinished_requests import memory_mb
from tests.live.written import written_desk
from tests.pace import allow

pytestmark = pytest.mark.nightly
Servers = Callable[..., list[Server]]
TURNS, MODEL_SECONDS, ROW_TEXT = 1000, 25, "Please call us."
#: So many turns fill all waiting slots; then others come at a rate that leaves the machine time for "hello".
FILLING, FILLING_PER_SECOND, TURNS_PER_SECOND = 300, 40.0, 8.0


@dataclass
class Asked:
    """Turns that want the model, from one thread."""

    port: int
    secret: str
    #: Answer and seconds of each; and whether it was sent while all slots were taken.
    answers: list[tuple[str, float, bool]] = field(default_factory=list)

    def start(self) -> threading.Thread:
        """Send them at their rate."""
        thread = threading.Thread(target=lambda: asyncio.run(self._ask_all()))
        thread.start()
        return thread

    async def _ask_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(TURNS):
                is_measured = FILLING < number < FILLING + 100
                group.create_task(self._ask(is_measured))
                await asyncio.sleep(1 / (TURNS_PER_SECOND if is_measured else FILLING_PER_SECOND))

    async def _ask(self, is_measured: bool) -> None:
        body = json.dumps({"message": "fees"})
        head = (
            f"POST {TURN} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Api-Key {self.secret}\r\n"
            f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        started = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write((head + body).encode())
        answer: dict[str, Any] = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
        writer.close()
        text = answer["payload"]["value"] if answer["payload"] else answer["errorCode"]
        self.answers.append((text, time.monotonic() - started, is_measured))


def measure_hello(talk: Talk, port: int, seconds: float) -> list[float]:
    """The milliseconds of turns that ask no model, one after the other."""
    milliseconds, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.perf_counter()
        reply = talk.say(port, "hours")
        milliseconds.append((time.perf_counter() - started) * 1000)
        assert reply
        assert reply.said == "Nine to five."
        time.sleep(0.05)
    return milliseconds


def make_desk() -> None:
    """A desk whose answer to "fees" is written by a model, and has a text of its own."""
    written_desk(exact_text=ROW_TEXT)
    CeResponse.objects.filter(intent_code="HOURS").update(
        response_type="EXACT", output_format="TEXT", exact_text="Nine to five.", json_schema=None
    )


def test_a_model_that_hangs_costs_turns_that_ask_none_nothing(
    servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    make_desk()
    with model_server(Says(seconds=60)) as model:
        (server,) = servers(
            1,
            workers=2,
            CE_LLM_CONNECTIONS=json.dumps({"hung": {"base_url": model.url, "models": ["m"], "circuit_failures": 0}}),
            CE_CFG__LLM__TIMEOUT_SECONDS=str(MODEL_SECONDS),
            CE_CFG__LLM__MAX_ATTEMPTS="1",
        )
        secret = make_key()
        hello, asked = Talk(secret), Asked(server.port, secret)
        measure_hello(hello, server.port, 2)
        before, alone = memory_mb(server), measure_hello(hello, server.port, 5)
        sending = asked.start()
        time.sleep(FILLING / FILLING_PER_SECOND + 3)
        beside, waiting = measure_hello(hello, server.port, 8), model.waiting
        during = memory_mb(server)
        sending.join()
    waited = [seconds for _, seconds, _ in asked.answers if seconds > MODEL_SECONDS - 1]
    refused = [
        seconds * 1000 for _, seconds, is_measured in asked.answers if is_measured and seconds <= MODEL_SECONDS - 1
    ]
    with capsys.disabled():
        print(
            f"\n{TURNS} turns for a hung model: {len(waited)} waited ({waiting} at once, at most {max(waited):.1f} s), "
            f"the others did not (median {statistics.median(refused):.0f} ms, p95 "
            f"{statistics.quantiles(refused, n=20)[-1]:.0f} ms of {len(refused)}); hello {_describe(alone)} alone, "
            f"{_describe(beside)} beside; memory {before:.0f} → {during:.0f} MB"
        )

    assert Counter(text for text, *_ in asked.answers) == {ROW_TEXT: TURNS}
    assert max(waited) < MODEL_SECONDS + 5
    assert statistics.median(beside) <= max(2 * statistics.median(alone), 100)
    assert statistics.median(refused) < 100


def _describe(milliseconds: Sequence[float]) -> str:
    return f"{statistics.median(milliseconds):.0f} ms (p95 {statistics.quantiles(milliseconds, n=20)[-1]:.0f})"


def test_a_service_that_failed_too_often_is_not_waited_for(
    servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    make_desk()
    with model_server(Says(seconds=60)) as model:
        (server,) = servers(
            1,
            CE_LLM_BASE_URL=model.url,
            CE_LLM_MODEL="m",
            CE_CFG__LLM__TIMEOUT_SECONDS="1",
            CE_CFG__LLM__MAX_ATTEMPTS="1",
        )
        secret = make_key()
        talk, milliseconds = Talk(secret), []
        for _ in range(25):
            started = time.perf_counter()
            reply = talk.say(server.port, "fees")
            milliseconds.append((time.perf_counter() - started) * 1000)
            assert reply
            assert reply.said == ROW_TEXT
        requests = len(model.requests)
    with capsys.disabled():
        print(f"\nbefore it opens {milliseconds[0]:.0f} ms, open {statistics.median(milliseconds[5:]):.0f} ms")

    assert requests == 5
    assert statistics.median(milliseconds[5:]) < allow(100)


def test_a_turn_ends_within_its_time_whatever_it_waits_for(servers: Servers) -> None:
    make_desk()
    with model_server(Says(seconds=60)) as model:
        (server,) = servers(1, CE_LLM_BASE_URL=model.url, CE_LLM_MODEL="m", CE_TURN_TIMEOUT_SECONDS="4")
        started = time.monotonic()
        reply = Talk(make_key()).say(server.port, "fees")
        took = time.monotonic() - started

    assert reply
    assert (reply.status, reply.said) == (200, ROW_TEXT)
    assert 3 <= took <= 5
