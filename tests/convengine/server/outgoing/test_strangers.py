"""Whatever the server of a stranger does, a call ends at its deadline, and its connection is closed."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.ports import LlmRequest
from convengine.server.executors import http_client
from convengine.server.executors.http_client import HttpCall, send
from convengine.server.executors.http_connections import connections
from convengine.server.executors.http_policy import ONE_ATTEMPT
from convengine.server.mcp_client.policy import McpPolicy
from convengine.server.mcp_client.servers import McpServers, Pool
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.outgoing.loop import OutgoingLoop, outgoing
from convengine.server.resilience.circuit import Circuits
from tests.builders import make_server
from tests.fakes.http_server import Reply, serving
from tests.fakes.strangers import NAMES, Stranger, at_most, meet
from tests.pace import allow

#: The deadline of each call, and what the issue of it allows beyond, in seconds.
DEADLINE, BEYOND = 1.5, 2.0
#: Larger than what a system keeps for a reader that does not read.
LARGE = "x" * 900_000


@pytest.fixture(autouse=True)
def _own_circuits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "circuits", Circuits())


def ask_all(ask: Callable[[Stranger], Any]) -> dict[str, Any]:
    """The outcome for each shape, all asked at once."""
    with (
        meet(*NAMES) as strangers,
        ThreadPoolExecutor(len(NAMES)) as threads,
        at_most(allow(DEADLINE + BEYOND)),
    ):
        return dict(zip(NAMES, threads.map(ask, strangers), strict=True))


def test_http_calls_end_at_their_deadline() -> None:
    policy = replace(ONE_ATTEMPT, connect_timeout_ms=500, read_timeout_ms=1000)

    def ask(stranger: Stranger) -> str:
        declared = {"base_url": stranger.address, "private_hosts": ["127.0.0.1"]}
        target = connections({"c": declared})["c"].target("/")
        try:
            return str(send(HttpCall(target, "POST", policy, "t", body=LARGE)).status)
        except ToolFault as fault:
            return fault.code

    outcomes = ask_all(ask)
    ends = {"hangs up", "hangs up in the headers", "speaks no HTTP", "sends without an end"}
    assert {outcomes[name] for name in outcomes.keys() - ends} == {"HTTP_TIMEOUT"}
    assert {outcomes[name] for name in ends} == {"HTTP_IO", "BODY_TOO_LARGE"}


def test_model_calls_end_at_their_deadline() -> None:
    limits = {"timeout_ms": int(DEADLINE * 1000), "total_ms": int(DEADLINE * 1000), "max_attempts": 2}

    def ask(stranger: Stranger) -> str:
        model = OpenAiModel(read_connections({"desk": {"base_url": stranger.address, "models": ["small"]}}))
        answer = model.complete(LlmRequest("RESPONSE_TEXT", LARGE, "Hello?", **limits))
        model.close()
        return str(answer.error_code)

    outcomes = ask_all(ask)
    assert set(outcomes.values()) <= {"LLM_TIMEOUT", "LLM_CALL_FAILED", "LLM_INVALID_RESPONSE"}
    assert outcomes["drips a header"] == outcomes["trickles 102 Processing"] == "LLM_TIMEOUT"


@pytest.mark.parametrize("transport", ["HTTP", "SSE"])
def test_mcp_calls_end_at_their_deadline_and_leave_nothing(transport: str) -> None:
    sessions = Pool()
    servers = McpServers(McpPolicy(hosts=frozenset({"127.0.0.1"})), sessions)

    def ask(stranger: Stranger) -> str:
        row = make_server(f"s{stranger.port}", transport=transport, url=stranger.address)
        return str(servers.tools(replace(row, timeout_ms=int(DEADLINE * 1000))).error_type)

    outcomes = ask_all(ask)
    outgoing.run(sessions.close(), 10)
    assert set(outcomes.values()) <= {"MCP_SERVER_UNAVAILABLE", "MCP_TIMEOUT", "MCP_PROTOCOL_ERROR"}


def test_a_stopping_process_shortens_the_calls_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OutgoingLoop()
    monkeypatch.setattr(http_client, "outgoing", own)
    with meet("drips a header") as (stranger,), ThreadPoolExecutor(1) as threads:
        target = connections({"c": {"base_url": stranger.address, "private_hosts": ["127.0.0.1"]}})["c"].target("/")
        call = threads.submit(send, HttpCall(target, "GET", ONE_ATTEMPT, "t"))
        while not stranger.asked:
            pass
        with at_most(allow(2)):
            own.hurry(0.2)
            assert isinstance(call.exception(), ToolFault)
            with pytest.raises(ToolFault, match="HTTP_TIMEOUT"):
                send(HttpCall(target, "GET", ONE_ATTEMPT, "t"))


def ask_model(address: str) -> str:
    model = OpenAiModel(read_connections({"desk": {"base_url": address, "models": ["small"]}}))
    answer = model.complete(LlmRequest("RESPONSE_TEXT", "Be kind.", "Hello?", timeout_ms=60_000, total_ms=60_000))
    model.close()
    return str(answer.error_message)


def ask_mcp(address: str) -> str:
    sessions = Pool()
    servers = McpServers(McpPolicy(hosts=frozenset({"127.0.0.1"})), sessions)
    answer = servers.tools(replace(make_server("s", transport="HTTP", url=address), timeout_ms=60_000))
    outgoing.run(sessions.close(), 10)
    return str(answer.error_message)


ASKS = (ask_model, ask_mcp)


@pytest.mark.parametrize("ask", ASKS)
def test_a_compressed_answer_is_not_unpacked_because_that_would_hold_up_all_calls(ask: Callable[[str], str]) -> None:
    bomb = gzip.compress(bytes(8 * 1024 * 1024))
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    with serving(Reply(body=bomb, headers=headers)) as server:
        assert "unsupported encoding gzip" in ask(server.address)
        assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("ask", ASKS)
def test_an_answer_has_a_largest_size(ask: Callable[[str], str]) -> None:
    body = b" " * (11 * 1024 * 1024)
    with serving(Reply(body=body, headers={"Content-Type": "application/json"})) as server:
        assert "larger than 10485760 bytes" in ask(server.address)
