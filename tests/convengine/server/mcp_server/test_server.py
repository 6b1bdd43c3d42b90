"""The engine as an MCP server: real processes, called by the official SDK's client."""

import asyncio
import os
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import CommandError, call_command
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.api import make_key
from tests.fakes.mcp_servers import listening
from tests.live.processes import database_url, free_port
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[4]
MANAGE = [str(ROOT / "manage.py"), "mcp_serve"]


def environment() -> dict[str, str]:
    """What a process on the database of this test is told."""
    return {**os.environ, "DATABASE_URL": database_url(), "CE_DEBUG": "true"}


Talk = Callable[[Client], Coroutine[Any, Any, Any]]


@pytest.fixture
def secret() -> str:
    create_help_desk()
    return make_key(scopes=["turns", "audit", "config"])


def over_stdio(secret: str, talk: Talk) -> Any:
    """What comes of a talk with a process of its own."""

    async def run() -> Any:
        env = {**environment(), "CE_MCP_API_KEY": secret}
        async with Client(StdioServerParameters(command=sys.executable, args=MANAGE, env=env)) as client:
            return await talk(client)

    return asyncio.run(run())


def over_http(port: int, secret: str, talk: Talk) -> Any:
    """What comes of a talk with the server on a port."""

    async def run() -> Any:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport) as client:
                return await talk(client)

    return asyncio.run(run())


async def a_conversation(client: Client) -> Any:
    """A turn, why it went so, and the rows behind it."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == {"take_turn", "read_trace", "read_why", "list_configuration"}
    first = await client.call_tool("take_turn", {"message": "hours"})
    assert first.is_error is False
    turn: Any = first.structured_content
    address = {"conversationId": turn["conversationId"], "turn": turn["turnNo"]}
    trace: Any = (await client.call_tool("read_trace", address)).structured_content
    why: Any = (await client.call_tool("read_why", address)).structured_content
    rules: Any = (await client.call_tool("list_configuration", {"table": "ce_rule"})).structured_content
    more = {"message": "fees", "conversationId": turn["conversationId"], "idempotencyKey": "once"}
    again: Any = (await client.call_tool("take_turn", more)).structured_content
    # A client that tries once more gets the answer that there is.
    assert (await client.call_tool("take_turn", more)).structured_content == again
    return turn, trace, why, rules, again


def judge(results: Any) -> None:
    turn, trace, why, rules, again = results
    assert turn["payload"]["value"] == "Nine to five."
    assert trace["turns"][0]["steps"][0]["step"] == "LoadOrCreateConversationStep"
    assert {"CLASSIFIER", "RESPONSE"} <= {decision["kind"] for decision in why["decisions"]}
    assert rules["rows"][0]["action_value"] == "VIP"
    assert (again["turnNo"], again["payload"]["value"]) == (2, "No fees.")


@pytest.mark.long
def test_a_client_over_stdio_takes_turns_and_reads_why(secret: str) -> None:
    judge(over_stdio(secret, a_conversation))


@pytest.mark.long
def test_over_http_a_key_is_needed_for_everything(secret: str) -> None:
    port = free_port()
    command = (sys.executable, *MANAGE, "--transport", "http", "--port", str(port))
    with listening(port, *command, env=environment()):
        judge(over_http(port, secret, a_conversation))
        refused = [
            httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=headers).status_code
            for headers in ({}, {"Authorization": "Bearer x.y"}, {"Authorization": f"Basic {secret}"})
        ]
        assert refused == [401, 401, 401]
        host = {"Authorization": f"Api-Key {secret}", "Host": "evil.example"}
        assert httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=host).status_code == 421
        wrong = [
            httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers={"Authorization": "Bearer x.y"})
            for _ in range(24)
        ]
        assert [answer.status_code for answer in wrong[:19]] == [401] * 19
        throttled = next(answer for answer in wrong if answer.status_code == 429)
        assert throttled.json()["errorCode"] == "THROTTLED"
        assert int(throttled.headers["Retry-After"]) > 0
        judge_failures(over_http(port, make_key(scopes=["turns"]), failures))


async def failures(client: Client) -> Any:
    return [
        await client.call_tool("list_configuration", {}),
        await client.call_tool("read_why", {"conversationId": "x"}),
        await client.call_tool("take_turn", {"message": "hours", "conversationId": "no id"}),
        await client.call_tool("take_turn", {"message": "hours", "conversationId": str(uuid.uuid4()), "x": 1}),
        await client.call_tool("drop_tables", {}),
    ]


def judge_failures(results: Any) -> None:
    assert all(result.is_error for result in results)
    codes = [result.structured_content["errorCode"] for result in results]
    assert codes == ["FORBIDDEN", *["VALIDATION_ERROR"] * 4]
    assert "does not have the scope config" in results[0].content[0].text
    assert "turn" in results[1].content[0].text


def test_stdio_without_a_key_that_is_known_does_not_begin() -> None:
    with pytest.raises(CommandError, match="CE_MCP_API_KEY"):
        call_command("mcp_serve")
