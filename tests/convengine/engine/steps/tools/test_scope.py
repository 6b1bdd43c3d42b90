from collections.abc import Mapping
from typing import Any

import pytest

from convengine.engine.steps.tools.mcp_tool import McpToolStep
from convengine.engine.steps.tools.plan import START
from convengine.engine.steps.tools.scope import find_refusal, find_server, list_tools_in_scope, split_tool_name
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools, Stub
from convengine.engine.steps.tools.tool_orchestration import ToolOrchestrationStep
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.ports import ServerTools
from tests.builders import (
    make_config,
    make_direct_tool,
    make_server,
    make_session,
    make_snapshot,
    make_tool,
    make_turn,
    payload,
)
from tests.convengine.engine.steps.tools.planning import answer, call, run

ORDER = Stub("mcp.oms.get.order", result={"content": [{"type": "text", "text": '{"summary":"It left."}'}]})


def test_P2_4_11_V16_a_code_names_the_server_and_its_tool() -> None:
    server = make_server("oms")
    snapshot = make_snapshot(server, make_server("off", enabled=False))

    assert find_server(snapshot, "mcp.oms.get.order") is server
    assert split_tool_name("mcp.oms.get.order") == "get.order"
    assert find_server(snapshot, "MCP.OMS.x") is server
    for code in ("mcp.off.x", "mcp.oms", "mcp.oms.", "oms.get", "mcp.other.x", ""):
        assert find_server(snapshot, code) is None


def test_tools_of_a_server_are_planned_with_like_any_other() -> None:
    done = run([call("mcp.oms.get.order", id=1), answer("x")], [ORDER], make_server("oms"), tools=[])

    assert done.status == "ANSWER"
    assert payload(done.turn, "MCP_TOOL_RESULT")["tool_group"] == "MCP_SERVER"
    assert [call.tool_code for call in done.tools.calls] == ["mcp.oms.get.order"]
    assert '"tool_code":"mcp.oms.get.order"' in payload(done.turn, "MCP_PLAN_LLM_INPUT")["system_prompt"]


def test_the_servers_scope_and_its_allowed_tools_hold() -> None:
    elsewhere = make_server("oms", intent_code="OTHER")
    forbidden = make_server("oms", allowed_tools_json=["list"])

    assert run([], [ORDER], elsewhere, tools=[]).status == "NO_TOOLS_FOR_SCOPE"
    assert run([], [ORDER], forbidden, tools=[]).status == "NO_TOOLS_FOR_SCOPE"


def test_a_row_wins_over_a_discovered_tool_of_its_code() -> None:
    row = make_tool("mcp.oms.get.order", tool_group="HTTP_API")
    done = run([call("mcp.oms.get.order"), answer("x")], [ORDER], make_server("oms"), tools=[row])

    assert payload(done.turn, "MCP_TOOL_RESULT")["tool_group"] == "HTTP_API"


def test_the_text_of_a_result_is_read_as_what_it_is() -> None:
    same = call("mcp.oms.get.order")
    done = run([same, same], [ORDER], make_server("oms"), tools=[])

    assert done.mcp["finalAnswer"] == "It left."


@pytest.mark.parametrize(("name", "status"), [("oms", "SUCCESS"), ("other", "SKIPPED_SCOPE_MISMATCH")])
def test_a_direct_row_calls_a_tool_of_a_server_in_scope(name: str, status: str) -> None:
    script = ScriptedTools([ORDER])
    direct = make_direct_tool("mcp.oms.get.order", tool_group="MCP_SERVER")
    turn = make_turn(make_snapshot(make_server(name), direct), tools=script, servers=ScriptedServers(script))

    assert ToolOrchestrationStep().execute(make_session(), turn).session.input_params["tool_status"] == status


class Down:
    """Servers that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    def tools(self, server: rows.McpServer) -> ServerTools:
        self.asked += 1
        return ServerTools(error_type="MCP_SERVER_UNAVAILABLE", error_message="All connection attempts failed")


def test_a_server_that_cannot_be_reached_is_told_and_its_tools_are_left_out() -> None:
    done = run([answer("x")], [], make_server("oms"), turn={"servers": Down()})

    assert payload(done.turn, "MCP_SERVER_UNAVAILABLE") == {
        "serverId": "oms",
        "transport": "HTTP",
        "error": "All connection attempts failed",
    }
    assert done.status == "ANSWER"
    assert run([], [], make_server("oms"), tools=[], turn={"servers": Down()}).status == "NO_TOOLS_FOR_SCOPE"


def test_no_server_is_asked_while_a_gate_is_shut() -> None:
    down = Down()

    run([], [], make_server("oms"), tools=[], turn={"servers": down}, input_params={"dialogue_act": "NEGATE"})
    without_model = make_turn(make_snapshot(make_server("oms")), servers=down)
    session = McpToolStep().execute(make_session(user_text="x"), without_model).session

    assert session.input_params["mcp_status"] == "NO_MODEL"
    assert down.asked == 0


class Listing:
    """A server that lists this."""

    def __init__(self, *tools: dict[str, Any]) -> None:
        self.listed = tools

    def tools(self, server: rows.McpServer) -> ServerTools:
        return ServerTools(self.listed)


def test_a_listed_tool_says_what_it_takes_and_whether_it_changes_something() -> None:
    cancel = {"name": "cancel", "annotations": {"readOnlyHint": False}, "inputSchema": {"type": "object"}}
    odd = {"name": "odd", "inputSchema": {"type": "nonsense"}}
    server = make_server("oms")
    turn = make_turn(make_snapshot(server), servers=Listing(cancel, odd, {"description": "nameless"}))

    tools = {tool.tool_code: tool for tool in list_tools_in_scope(make_session(), turn)}

    assert tools.keys() == {"mcp.oms.cancel", "mcp.oms.odd"}
    assert (tools["mcp.oms.cancel"].read_only, tools["mcp.oms.cancel"].input_schema) == (False, {"type": "object"})
    assert (tools["mcp.oms.odd"].read_only, tools["mcp.oms.odd"].input_schema) == (True, None)


def is_refused(allowed: Mapping[str, Any], current: str, following: str | None, *, closed: bool = False) -> bool:
    turn = make_turn(
        make_snapshot(
            make_config("McpToolStep/GUARDRAIL_ENABLED", "true"),
            make_config("McpToolStep/GUARDRAIL_FAIL_CLOSED", str(closed)),
            make_config("McpToolStep/ALLOWED_NEXT", dumps(allowed)),
        )
    )
    return find_refusal(make_session(), turn, current, following) is not None


@pytest.mark.parametrize(
    ("allowed", "current", "following", "wanted"),
    [
        ({}, START, "a", False),
        ({START: ["a"]}, START, "a", False),
        ({START: [" A "]}, START, "a", False),
        ({START: ["a"]}, START, "b", True),
        ({START: ["a"]}, "a", "b", False),
        ({START: []}, START, "b", False),
        ({"ORDER.STATUS": ["b"]}, "order.status", "c", True),
        ({"order.*": ["b"]}, "order.status", "c", True),
        ({"order.*": ["order.*"]}, "order.status", "order.trace", False),
        ({"*": ["*"]}, "x", "y", False),
        ({START: ["a[b]"]}, START, "a[b]", False),
        ({START: ["a?"]}, START, "ab", True),
        ({START: ["a"]}, START, " ", True),
        ({START: ["a"]}, START, None, True),
    ],
)
def test_what_may_follow(allowed: Mapping[str, Any], current: str, following: str | None, wanted: bool) -> None:
    assert is_refused(allowed, current, following) is wanted


def test_what_nothing_is_said_of_is_allowed_unless_closed() -> None:
    assert is_refused({}, "a", "b", closed=True)
    assert not is_refused({"a": ["b"]}, "a", "b", closed=True)


def test_switched_off_nothing_is_refused() -> None:
    assert find_refusal(make_session(), make_turn(), START, None) is None
