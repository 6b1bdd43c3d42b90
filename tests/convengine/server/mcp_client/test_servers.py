"""Real servers, made with the official SDK, over stdio and over HTTP."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from convengine.engine.turn.rows import McpServer
from convengine.server.database import throttle
from convengine.server.mcp_client.policy import McpPolicy
from convengine.server.mcp_client.servers import McpServers, Pool
from convengine.server.outgoing.loop import outgoing
from tests.fakes.mcp_servers import SCRIPT, http_row, listening, stdio_row
from tests.live.processes import free_port

ROOT = Path(__file__).resolve().parents[4]
POLICY = McpPolicy(frozenset({sys.executable}), frozenset({"127.0.0.1"}), {"TOKEN": "s3cret"})


@pytest.fixture(scope="module")
def sessions() -> Iterator[Pool]:
    made = Pool()
    yield made
    outgoing.run(made.close(), 10)


@pytest.fixture(scope="module")
def servers(sessions: Pool) -> McpServers:
    return McpServers(POLICY, sessions)


def value(servers: McpServers, row: McpServer, tool: str, **args: Any) -> Any:
    """What a tool returned. Fails when it did not."""
    answer = servers.call(row, tool, args)
    assert answer.error_type is None, answer
    return answer.result["structuredContent"]["result"]


@pytest.fixture(params=["stdio", "http", pytest.param("sse", marks=pytest.mark.long)], scope="module")
def row(request: pytest.FixtureRequest) -> Iterator[McpServer]:
    """A server of each kind; those that listen do so for all tests of this module, which share the sessions."""
    if request.param == "stdio":
        yield stdio_row()
        return
    port = free_port()
    if request.param == "sse":
        with listening(port, sys.executable, SCRIPT, str(port), "sse"):
            yield replace(http_row(port), transport="SSE", url=f"http://127.0.0.1:{port}/sse")
        return
    with listening(port):
        yield http_row(port)


def test_a_server_is_asked_for_its_tools_and_called(servers: McpServers, row: McpServer) -> None:
    tools = {tool["name"]: tool for tool in servers.tools(row).tools}

    assert tools["order.status"]["inputSchema"]["required"] == ["order"]
    assert tools["order.status"]["description"] == "Where an order is."
    answer = servers.call(row, "order.status", {"order": "A-1"})
    assert answer.result["structuredContent"] == {"order": "A-1", "status": "SHIPPED"}
    assert answer.result["content"][0]["type"] == "text"


def test_a_session_is_kept_so_that_a_call_starts_no_process(servers: McpServers, row: McpServer) -> None:
    first = value(servers, row, "pid")

    assert {value(servers, row, "pid") for _ in range(20)} == {first}


def test_calls_of_many_threads_share_the_session(servers: McpServers, row: McpServer) -> None:
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(value(servers, row, "pid"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(pids) == 8
    assert len(set(pids)) == 1


def test_a_tool_that_fails_or_does_not_exist_is_an_error_with_its_text(servers: McpServers, row: McpServer) -> None:
    failed = servers.call(row, "fail", {})
    unknown = servers.call(row, "zzz", {})

    assert failed.error_type == "MCP_TOOL_FAILED"
    assert "MCP server shop: " in str(failed.error_message)
    assert unknown.error_type in ("MCP_TOOL_FAILED", "MCP_PROTOCOL_ERROR")


def test_a_result_that_is_too_large_is_an_error_and_the_session_goes_on(servers: McpServers, row: McpServer) -> None:
    first = value(servers, row, "pid")

    answer = servers.call(row, "much", {"characters": 2_000_000})

    if row.transport == "SSE":
        # The SDK itself takes no event of that size, and ends the session.
        assert answer.error_type == "MCP_CONNECTION_LOST"
    else:
        assert answer.error_type == "MCP_RESULT_TOO_LARGE"
        assert "1048576 is the limit" in str(answer.error_message)
    assert value(servers, row, "pid") == first


def test_a_result_that_is_nested_too_deep_is_an_error(servers: McpServers, row: McpServer) -> None:
    answer = servers.call(row, "nest", {"levels": 80})

    assert answer.error_type == "MCP_RESULT_TOO_LARGE"
    assert "more than 64 deep" in str(answer.error_message)


def test_a_server_that_dies_in_mid_call_is_told_and_stdio_starts_a_new_one(servers: McpServers) -> None:
    row = stdio_row()
    first = value(servers, row, "pid")

    answer = servers.call(row, "die", {})

    assert (answer.result, answer.error_type) == (None, "MCP_CONNECTION_LOST")
    assert value(servers, row, "pid") != first


@pytest.mark.long
def test_a_server_killed_between_two_calls_is_replaced_without_a_word(servers: McpServers) -> None:
    row = stdio_row()
    first = value(servers, row, "pid")
    os.kill(first, signal.SIGKILL)
    time.sleep(0.3)

    assert value(servers, row, "pid") != first


@pytest.mark.long
def test_an_http_server_killed_in_mid_call_is_told_and_the_next_one_is_met(servers: McpServers) -> None:
    port = free_port()
    row = http_row(port)
    with listening(port) as process:
        value(servers, row, "pid")
        threading.Timer(0.4, process.kill).start()
        answer = servers.call(row, "slow", {"seconds": 10})
    assert answer.error_type == "MCP_CONNECTION_LOST"

    down = servers.call(row, "pid", {})
    assert down.error_type == "MCP_SERVER_UNAVAILABLE"
    time.sleep(1.2)
    with listening(port) as process:
        assert value(servers, row, "pid") == process.pid


@pytest.mark.long
def test_an_http_server_that_was_started_anew_is_met_without_a_word(servers: McpServers) -> None:
    port = free_port()
    row = http_row(port)
    with listening(port) as process:
        assert value(servers, row, "pid") == process.pid
    with listening(port) as process:
        assert value(servers, row, "pid") == process.pid


def test_a_call_that_takes_too_long_is_told_and_its_session_is_not_used_again(servers: McpServers) -> None:
    row = stdio_row()
    first = value(servers, row, "pid")

    answer = servers.call(stdio_row(timeout_ms=300), "slow", {"seconds": 30})

    assert answer.error_type == "MCP_TIMEOUT"
    assert "300 ms" in str(answer.error_message)
    assert value(servers, row, "pid") != first


def test_a_server_that_cannot_be_started_is_left_in_peace_for_a_while(servers: McpServers) -> None:
    row = stdio_row("broken", args_json=["-c", "import sys; sys.exit(1)"])

    first, second = servers.tools(row), servers.tools(row)

    assert first.error_type == second.error_type == "MCP_SERVER_UNAVAILABLE"
    assert "The next attempt is made in" in str(second.error_message)


def test_what_is_no_mcp_server_is_an_error_in_time(servers: McpServers) -> None:
    row = stdio_row("mute", args_json=["-c", "import time; time.sleep(60)"], timeout_ms=700)
    started = time.monotonic()

    answer = servers.tools(row)

    assert answer.error_type == "MCP_SERVER_UNAVAILABLE"
    assert time.monotonic() - started < 30


def test_secrets_reach_the_process_and_the_deployments_own_variables_do_not(
    servers: McpServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CE_SECRET_KEY", "of the deployment")
    row = stdio_row(env_json={"SHOP_TOKEN": "Bearer ${TOKEN}"})

    assert value(servers, row, "environment", name="SHOP_TOKEN") == "Bearer s3cret"
    assert value(servers, row, "environment", name="CE_SECRET_KEY") == ""


@pytest.mark.long
def test_a_killed_process_leaves_no_server_behind() -> None:
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from convengine.server.mcp_client.policy import McpPolicy\n"
        "from convengine.server.mcp_client.servers import McpServers\n"
        "from tests.fakes.mcp_servers import stdio_row\n"
        "servers = McpServers(McpPolicy(frozenset({sys.executable})))\n"
        "print(servers.call(stdio_row(), 'pid', {}).result['structuredContent']['result'], flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(ROOT)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()

    assert has_ended(server)


def has_ended(pid: int) -> bool:
    """True when the process has ended, or does so within a few seconds."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_row_that_changed_gets_a_session_of_its_own_and_the_old_one_ends(servers: McpServers) -> None:
    first = value(servers, stdio_row(), "pid")

    assert value(servers, stdio_row(env_json={"LEVEL": "2"}), "pid") != first
    assert has_ended(first)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (stdio_row(command="bash"), "The command 'bash' may not be started here."),
        (http_row(80, url="http://169.254.169.254/mcp"), "may not be reached from here"),
        (http_row(80, url="http://127.0.0.1@evil.example/mcp"), "may not be reached from here"),
        (stdio_row(env_json={"LD_PRELOAD": "/tmp/x.so"}), "The variable LD_PRELOAD may not be set"),
        (stdio_row(env_json={"X": "${DATABASE_URL}"}), "There is no secret DATABASE_URL"),
    ],
)
def test_what_the_deployment_does_not_allow_is_never_tried(servers: McpServers, row: McpServer, message: str) -> None:
    answer = servers.tools(row)

    assert answer.error_type == "MCP_SERVER_UNAVAILABLE"
    assert message in str(answer.error_message)


DOWN = {
    "a process that ends": stdio_row("broken", args_json=["-c", "import sys; sys.exit(1)"]),
    "a process that says nothing": stdio_row("mute", args_json=["-c", "import time; time.sleep(60)"], timeout_ms=700),
    "an address without a server": http_row(1, timeout_ms=2000),
    "a process that is no server": stdio_row("prints", args_json=["-c", "print('hello')"], timeout_ms=2000),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", DOWN)
def test_a_server_that_failed_is_not_asked_for_a_minute_by_any_process(name: str) -> None:
    row, pools = DOWN[name], [Pool(), Pool()]
    first, second = (McpServers(POLICY, pool, outages=throttle) for pool in pools)
    assert first.tools(row).error_type is not None

    started = time.monotonic()
    answers = [second.tools(row), second.call(row, "pid", {})]

    assert [answer.error_type for answer in answers] == ["MCP_SERVER_UNAVAILABLE"] * 2
    assert "within the last 60 s" in str(answers[0].error_message)
    assert time.monotonic() - started < row.timeout_ms / 1000
    for pool in pools:
        outgoing.run(pool.close(), 10)


@pytest.mark.django_db
def test_a_server_that_failed_is_asked_again_after_a_minute_or_when_its_row_changes() -> None:
    pool = Pool()
    row = DOWN["a process that ends"]
    McpServers(POLICY, pool, outages=throttle).tools(row)
    later = SimpleNamespace(
        remember=throttle.remember, is_remembered=lambda name: throttle.is_remembered(name, time.time() + 61)
    )

    assert "within the last" not in str(McpServers(POLICY, Pool(), outages=later).tools(row).error_message)
    assert McpServers(POLICY, pool, outages=throttle).tools(replace(stdio_row(), name="broken")).error_type is None
    outgoing.run(pool.close(), 10)


@pytest.mark.django_db
def test_a_session_that_works_is_used_although_a_call_failed(sessions: Pool) -> None:
    servers = McpServers(POLICY, sessions, outages=throttle)
    first = value(servers, stdio_row(), "pid")
    assert servers.call(stdio_row(), "fail", {}).error_type is not None
    assert value(servers, stdio_row(), "pid") == first
