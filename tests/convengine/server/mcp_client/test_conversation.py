"""Conversations whose planner calls real MCP servers: ours over stdio and HTTP, and a published one."""

import os
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CeMcpServer, CeMcpTool, CeResponse, CeRule
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.ports import ToolAnswer
from convengine.server import wiring
from convengine.server.mcp_client.servers import pool
from convengine.server.outgoing.loop import outgoing
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.wiring import OutsideWorld
from tests.api import Caller, make_key
from tests.convengine.engine.steps.tools.planning import answer, call
from tests.fakes.mcp_servers import SCRIPT, listening
from tests.live.processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(settings: Any) -> Iterator[Callable[..., CeMcpServer]]:
    """An intent ORDER whose answer is what the planner found; gives `shop(**row)`, which adds the server."""

    def add(**row: Any) -> CeMcpServer:
        settings.CONVENGINE = {
            **settings.CONVENGINE,
            "MCP_STDIO_COMMANDS": [row.get("command")],
            "MCP_HTTP_HOSTS": ["127.0.0.1"],
        }
        CeIntent.objects.create(intent_code="ORDER", description="Orders")
        CeIntentClassifier.objects.create(
            intent_code="ORDER", state_code="OPEN", rule_type="REGEX", pattern="order|time", priority=1
        )
        for status, state in (("ANSWER", "TOLD"), ("TOOL_ERROR", "FAILED")):
            CeRule.objects.create(
                phase="POST_AGENT_MCP",
                intent_code="ORDER",
                state_code="ANY",
                rule_type="JSON_PATH",
                match_pattern=f"$[?(@.inputParams.mcp_status == '{status}')]",
                action="SET_STATE",
                action_value=state,
            )
        CeResponse.objects.create(
            intent_code="ORDER", state_code="ANY", response_type="EXACT", exact_text="{{ context.mcp.finalAnswer }}"
        )
        return CeMcpServer.objects.create(**{"name": "shop", "timeout_ms": 60_000, **row})

    yield add
    outgoing.run(pool().close(), 10)


def talk(caller: Caller, text: str, *replies: dict[str, Any]) -> Any:
    """Say it to an engine whose planner replies so."""
    model = ScriptedModel([ScriptLine({"MCP_PLAN"}, dumps(reply), times=1) for reply in replies])
    with wiring.replace_outside_world(OutsideWorld(model=model)):
        return caller.say(text)


def observations(result: Any) -> str:
    return dumps(result["context"]["mcp"]["observations"])


def test_a_tool_over_stdio_is_called_and_no_second_process_is_started(shop: Callable[..., CeMcpServer]) -> None:
    shop(transport="STDIO", command=sys.executable, args_json=[SCRIPT])
    caller = Caller()

    first = talk(caller, "my order", call("mcp.shop.pid"), call("mcp.shop.order.status", order="A-1"), answer("Sent."))
    second = talk(caller, "my order again", call("mcp.shop.pid"), answer("Still there."))

    assert (first["state"], first["payload"]["value"]) == ("TOLD", "Sent.")
    assert "SHIPPED" in observations(first)
    pids = [result["context"]["mcp"]["observations"][0]["json"] for result in (first, second)]
    assert pids[0] == pids[1]
    assert "MCP_TOOL_RESULT" in caller.stages(1)


def test_a_tool_over_http_is_called_and_the_turn_replays_without_the_server(shop: Callable[..., CeMcpServer]) -> None:
    port = free_port()
    shop(transport="HTTP", url=f"http://127.0.0.1:{port}/mcp")
    caller = Caller()

    with listening(port):
        result = talk(caller, "my order", call("mcp.shop.order.status", order="A-1"), answer("Sent."))

    assert result["payload"]["value"] == "Sent."
    assert "SHIPPED" in observations(result)
    assert find_replay_difference(CeConversationHistory.objects.get(conversation_id=caller.conversation_id)) is None


def test_a_server_that_dies_in_mid_call_ends_the_loop_and_not_the_turn(shop: Callable[..., CeMcpServer]) -> None:
    shop(transport="STDIO", command=sys.executable, args_json=[SCRIPT])
    caller = Caller()

    result = talk(caller, "my order", call("mcp.shop.die"))
    after = talk(caller, "my order again", call("mcp.shop.order.status", order="A-1"), answer("Sent."))

    assert (result["success"], result["state"]) == (True, "FAILED")
    assert result["payload"]["value"] == "I could not get that information just now. Please try again later."
    assert result["context"]["mcp"]["toolExecutionError"]["rootCauseClass"] == "MCP_CONNECTION_LOST"
    assert after["payload"]["value"] == "Sent."


def test_an_http_server_killed_in_mid_call_ends_the_loop_and_not_the_turn(shop: Callable[..., CeMcpServer]) -> None:
    port = free_port()
    shop(transport="HTTP", url=f"http://127.0.0.1:{port}/mcp")
    caller = Caller()
    with listening(port) as process:
        talk(caller, "my order", call("mcp.shop.pid"), answer("There."))
        threading.Timer(0.5, process.kill).start()
        result = talk(caller, "my order again", call("mcp.shop.slow", seconds=30))

    assert (result["success"], result["state"]) == (True, "FAILED")
    assert result["context"]["mcp"]["toolExecutionError"]["rootCauseClass"] == "MCP_CONNECTION_LOST"


def test_a_call_is_waited_for_no_longer_than_the_loop_has_time(shop: Callable[..., CeMcpServer]) -> None:
    shop(transport="STDIO", command=sys.executable, args_json=[SCRIPT])
    CeConfig.objects.create(config_type="McpToolStep", config_key="TURN_BUDGET_MS", config_value="2500")
    caller = Caller()
    talk(caller, "my order", call("mcp.shop.pid"), answer("There."))
    started = time.monotonic()

    result = talk(caller, "my order again", call("mcp.shop.slow", seconds=30))

    assert time.monotonic() - started < 25
    assert result["context"]["mcp"]["toolExecutionError"]["rootCauseClass"] == "TOOL_TIMEOUT"


def test_a_server_that_is_down_leaves_the_conversation_alone(shop: Callable[..., CeMcpServer]) -> None:
    shop(transport="HTTP", url=f"http://127.0.0.1:{free_port()}/mcp")
    caller = Caller()

    result = talk(caller, "my order")

    assert result["success"] is True
    assert result["context"]["mcp"]["lifecycle"]["outcome"] == "NO_TOOLS"
    assert "MCP_SERVER_UNAVAILABLE" in caller.stages(1)


class Looking:
    """A tool that looks whether the turn holds a database connection, and whether it is in a transaction."""

    def __init__(self) -> None:
        self.connection = connections["default"]
        self.seen: list[tuple[bool, bool]] = []

    def run(self, *args: Any) -> ToolAnswer:
        self.seen.append((self.connection.connection is not None, self.connection.in_atomic_block))
        return ToolAnswer({"args": "seen"})


def test_nobody_who_waits_for_a_tool_holds_a_connection(shop: Callable[..., CeMcpServer]) -> None:
    shop(transport="STDIO", command=sys.executable, args_json=[SCRIPT])
    CeMcpTool.objects.create(tool_code="look", tool_group="FILES", intent_code="ANY", state_code="ANY")
    CeMcpTool.objects.create(
        tool_code="write", tool_group="FILES", intent_code="ANY", state_code="ANY", read_only=False
    )
    looking = Looking()
    model = ScriptedModel([ScriptLine({"MCP_PLAN"}, dumps(call(code)), times=1) for code in ("look", "write")])

    with wiring.replace_outside_world(OutsideWorld(model=model, tools=looking)):
        result = Caller(make_key(scopes=["turns", "approve"])).say("my order", inputParams={"approval_granted": True})

    assert result["success"] is True
    assert looking.seen == [(False, False), (False, False)]


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a server that somebody else published, in an environment of its own."""
    home = tmp_path_factory.mktemp("published")
    # This environment's own pip does it: to install another one takes longer than the server.
    venv.create(home, with_pip=False)
    python = str(home / "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check"]
    installed = subprocess.run(
        [*pip, "mcp-server-time==2026.10.19"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PIP_RETRIES": "1", "PYTHONPATH": ""},
    )
    if installed.returncode:
        reason = f"mcp-server-time could not be installed: {installed.stderr.strip()[-200:]}"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return home / "bin/mcp-server-time"


@pytest.mark.long
def test_a_published_server_is_called_through_a_conversation(shop: Callable[..., CeMcpServer], published: Path) -> None:
    shop(name="clock", transport="STDIO", command=str(published), args_json=["--local-timezone", "UTC"])
    caller = Caller()

    result = talk(
        caller, "what time is it", call("mcp.clock.get_current_time", timezone="Europe/Berlin"), answer("Late.")
    )

    assert result["payload"]["value"] == "Late."
    assert "Europe/Berlin" in observations(result)
    assert str(datetime.now(UTC).year) in observations(result)
    refused = talk(caller, "time again", call("mcp.clock.get_current_time", zone="X"), answer("Odd."))
    assert "INVALID_ARGS" in observations(refused)
    failed = talk(caller, "time there", call("mcp.clock.get_current_time", timezone="Middle/Earth"))
    assert failed["context"]["mcp"]["toolExecutionError"]["rootCauseClass"] == "MCP_TOOL_FAILED"
