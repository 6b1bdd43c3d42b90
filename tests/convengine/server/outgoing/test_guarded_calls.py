"""One list of names, for all kinds of calls: none connects to an address that is not public."""

import socket
from collections.abc import Callable, Sequence
from typing import Any

import anyio
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
from convengine.server.outgoing.loop import outgoing
from convengine.server.resilience.circuit import Circuits
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import send_delivery
from tests.builders import make_server

PORT = 8443
PUBLIC = "93.184.215.14"
#: What the name server says, look by look; the last answer stays.
NAMES: dict[str, Sequence[Sequence[str]]] = {
    "loopback": [["127.0.0.1"]],
    "private": [["10.0.0.7"]],
    "link-local": [["169.254.169.254"]],
    "link-local of version 6": [["fe80::1"]],
    "loopback of version 6": [["::1"]],
    "mapped": [["::ffff:127.0.0.1"]],
    "unique local": [["fd00::1"]],
    "translated": [["64:ff9b::7f00:1"]],
    "one of two": [[PUBLIC, "127.0.0.1"]],
    "changes to loopback after the check": [[PUBLIC], ["127.0.0.1"]],
    "changes to private after the check": [[PUBLIC], ["192.168.0.1"]],
}


def call_tool(url: str, allowed: list[str]) -> str:
    target = connections({"c": {"base_url": url, "private_hosts": allowed}})["c"].target("/")
    try:
        return str(send(HttpCall(target, "GET", ONE_ATTEMPT, "t")).status)
    except ToolFault as fault:
        return fault.message


def call_webhook(url: str, allowed: list[str]) -> str:
    try:
        outgoing.run(send_delivery(CeWebhookDelivery(webhook=CeWebhook(pk=1, url=url, secret="whsec_YQ=="))), 5)
    except ToolFault as fault:
        return fault.message
    return "sent"


def call_model(url: str, allowed: list[str]) -> str:
    model = OpenAiModel(read_connections({"desk": {"base_url": url, "models": ["m"], "private_hosts": allowed}}))
    request = LlmRequest("RESPONSE_TEXT", "Be kind.", "Hello?", timeout_ms=5000, total_ms=5000, max_attempts=1)
    answer = model.complete(request)
    model.close()
    return str(answer.error_message)


def call_mcp(url: str, allowed: list[str]) -> str:
    sessions = Pool()
    policy = McpPolicy(hosts=frozenset({"*.example"}), private_hosts=frozenset(allowed))
    answer = McpServers(policy, sessions).tools(make_server("s", url=url, timeout_ms=5000))
    outgoing.run(sessions.close(), 10)
    return str(answer.error_message)


#: Alerts call as tools do, with a connection of the deployment.
KINDS: dict[str, Callable[[str, list[str]], str]] = {
    "HTTP tools and alerts": call_tool,
    "webhooks": call_webhook,
    "models": call_model,
    "MCP": call_mcp,
}


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that something connected to. Nobody is there."""
    addresses: list[str] = []

    async def connect(remote_host: Any, *args: Any, **options: Any) -> Any:
        addresses.append(str(remote_host))
        raise ConnectionRefusedError("nobody there")

    monkeypatch.setattr(anyio, "connect_tcp", connect)
    monkeypatch.setattr(http_client, "circuits", Circuits())
    return addresses


def resolve_as(monkeypatch: pytest.MonkeyPatch, answers: Sequence[Sequence[str]]) -> None:
    real, looks = socket.getaddrinfo, list(answers)

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host != "rebind.example":
            return real(host, port, *args, **options)
        found = looks.pop(0) if len(looks) > 1 else looks[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_no_call_reaches_an_address_that_is_not_public(
    kind: str, name: str, connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, NAMES[name])
    for _ in NAMES[name]:
        KINDS[kind](f"https://rebind.example:{PORT}/", [])

    assert set(connected) <= {PUBLIC}


@pytest.mark.parametrize("kind", KINDS)
def test_the_refusal_says_how_to_allow_it(kind: str, connected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, [["10.0.0.7"]])
    text = KINDS[kind](f"https://rebind.example:{PORT}/", [])

    assert "not public" in text
    assert "private_hosts" in text or "PRIVATE_HOSTS" in text


@pytest.mark.parametrize("kind", KINDS.keys() - {"webhooks"})
def test_the_deployment_may_allow_a_name(kind: str, connected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, [["10.0.0.7", "10.0.0.8"]])
    KINDS[kind](f"https://rebind.example:{PORT}/", ["rebind.example"])

    assert connected[:2] == ["10.0.0.7", "10.0.0.8"]
