"""Tools of MCP servers without a model: in flows, in direct calls, and by rules."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from config_admin import models as m
from config_admin.flows.mapping import write_rows
from config_admin.transfer.apply_import import add_rows, import_document
from config_admin.transfer.files import read_bytes
from convengine.cli import doctor
from convengine.cli.doctor import Level
from convengine.server.mcp_client.servers import pool
from convengine.server.outgoing.loop import outgoing
from tests.api import Caller
from tests.fakes.mcp_servers import SCRIPT
from tests.live.processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)
SCHEMA = Path(__file__).resolve().parents[4] / "static/convengine/schemas/bundle.schema.json"
#: The flow of the manual.
FLOW: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[4] / "docs/tools.md").read_text().partition("```json\n")[2].partition("```")[0]
)
ARGUMENTS = {"quantity": "{{ inputParams.n }}", "express": "{{ inputParams.fast }}", "extras": "{{ inputParams.more }}"}


@pytest.fixture(autouse=True)
def _sessions(settings: Any) -> Iterator[None]:
    settings.CONVENGINE = {
        **settings.CONVENGINE,
        "MCP_STDIO_COMMANDS": [sys.executable],
        "MCP_HTTP_HOSTS": ["127.0.0.1"],
    }
    yield
    outgoing.run(pool().close(), 10)


def add_server(**row: Any) -> None:
    started = {"transport": "STDIO", "command": sys.executable, "args_json": [SCRIPT]}
    m.CeMcpServer.objects.create(**{"name": "shop", "timeout_ms": 60_000, **started, **row})


def add_intent(**direct: Any) -> None:
    """An intent that tells the status of the tool that it calls."""
    scope = {"intent_code": "PARCEL", "state_code": "IDLE"}
    m.CeIntent.objects.create(intent_code="PARCEL", description="Parcels")
    m.CeIntentClassifier.objects.create(**scope, rule_type="EXACT", pattern="parcel")
    text = "{{ tool_status }}: {{ tool_result.result.structuredContent.arguments }}"
    m.CeResponse.objects.create(**scope, response_type="EXACT", exact_text=text)
    if direct:
        m.CeTool.objects.create(**scope, tool_group="MCP_SERVER", **direct)


def test_a_flow_calls_a_tool_with_its_fields() -> None:
    add_server()
    add_rows(write_rows(FLOW), author="ada", reason="a flow")
    caller = Caller()

    caller.say("where is my order")
    answer = caller.say("A-17")

    assert answer["payload"]["value"] == "It is SHIPPED."


def test_a_flow_says_that_its_tool_failed(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "MCP_STDIO_COMMANDS": []}
    add_server()
    add_rows(write_rows(FLOW), author="ada", reason="a flow")
    caller = Caller()

    caller.say("where is my order")
    answer = caller.say("A-17")

    assert answer["payload"]["value"] == "Sorry, I cannot look that up now."


def test_a_flow_reads_the_text_of_a_server_that_gives_no_structure() -> None:
    add_server()
    text = "It says {{ tool_result.result.content[0].text }}"
    add_rows(write_rows({**FLOW, "answer": text}), author="ada", reason="a flow")
    caller = Caller()

    caller.say("where is my order")

    assert "SHIPPED" in caller.say("A-17")["payload"]["value"]


@pytest.mark.parametrize(
    ("args", "params", "arguments"),
    [
        pytest.param(ARGUMENTS, {"n": 3, "fast": True, "more": ["foam"]}, "3 True ['foam'] 1.5", id="as they are"),
        pytest.param(ARGUMENTS, {"n": "3", "fast": "false", "more": []}, "3 False [] 1.5", id="from texts"),
        pytest.param(
            {**ARGUMENTS, "weight": "{{ inputParams.kilos }}"},
            {"n": 1, "fast": False, "more": ["a", "b"], "kilos": 2.25},
            "1 False ['a', 'b'] 2.25",
            id="an optional one",
        ),
        pytest.param(
            {**ARGUMENTS, "weight": "{{ inputParams.kilos }}"},
            {"n": 1, "fast": False, "more": []},
            "1 False [] 1.5",
            id="an optional one without a value",
        ),
        pytest.param(
            {"quantity": 4, "express": False, "extras": ["{{ inputParams.n }}"]},
            {"n": "x"},
            "4 False ['x'] 1.5",
            id="fixed",
        ),
    ],
)
def test_a_direct_call_has_typed_arguments(args: dict[str, Any], params: dict[str, Any], arguments: str) -> None:
    add_server()
    add_intent(tool_code="mcp.shop.quote", args_template=args)

    answer = Caller().say("parcel", inputParams=params)

    assert answer["payload"]["value"] == f"SUCCESS: {arguments}"


def test_arguments_of_another_type_are_refused_before_the_call() -> None:
    add_server()
    add_intent(tool_code="mcp.shop.quote", args_template={**ARGUMENTS, "quantity": "many"})

    answer = Caller().say("parcel", inputParams={"fast": True, "more": []})

    assert answer["context"]["mcp"]["toolExecution"]["errorType"] == "INVALID_ARGS"


def test_a_rule_asks_for_a_tool() -> None:
    add_server()
    add_intent()
    request = {"tool_code": "mcp.shop.quote", "args": {"quantity": 2, "express": True, "extras": []}}
    m.CeRule.objects.create(
        phase="POST_CLASSIFIER_INTENT", intent_code="PARCEL", state_code="ANY", rule_type="EXACT",
        match_pattern="parcel",
        action="SET_INPUT_PARAM", action_value=json.dumps({"key": "tool_request", "value": request}),
    )  # fmt: skip

    assert Caller().say("parcel")["payload"]["value"] == "SUCCESS: 2 True [] 1.5"


def test_a_server_that_is_down_is_an_error_and_not_a_wrong_scope() -> None:
    add_server(transport="HTTP", url=f"http://127.0.0.1:{free_port()}/mcp")
    add_intent(tool_code="mcp.shop.quote", args_template={})
    caller = Caller()

    answer = caller.say("parcel")

    execution = answer["context"]["mcp"]["toolExecution"]
    assert (execution["status"], execution["errorType"]) == ("ERROR", "MCP_SERVER_UNAVAILABLE")
    assert "MCP_SERVER_UNAVAILABLE" in caller.stages(1)


@pytest.mark.parametrize("tool", ["mcp.none.such", "mcp.shop", "other.tool"])
def test_a_flow_with_an_unknown_server_is_refused(tool: str) -> None:
    add_server()

    with pytest.raises(ValueError, match=f"there is no tool {tool}"):
        write_rows({**FLOW, "tool": tool})


def test_a_bundle_with_such_a_call_fits_its_schema_and_is_imported() -> None:
    call = {"intent_code": "PARCEL", "state_code": "IDLE", "tool_group": "MCP_SERVER", "tool_code": "mcp.shop.quote"}
    tables = {"ce_intent": [{"intent_code": "PARCEL", "description": "Parcels"}], "ce_tool": [call]}
    add_server()
    schema = json.loads(SCHEMA.read_text("utf-8"))

    assert list(Draft202012Validator(schema).iter_errors({"tables": tables})) == []
    done = import_document(
        read_bytes("call.json", json.dumps({"tables": tables}).encode()), author="ada", reason="a call"
    )
    assert done.plan.errors == []


def test_the_doctor_lists_servers_and_their_tools() -> None:
    add_server(allowed_tools_json=["quote", "order.status"])
    add_server(name="down", transport="HTTP", url=f"http://127.0.0.1:{free_port()}/mcp")

    findings = {
        finding.text.partition(":")[0]: finding for finding in doctor.examine() if finding.subject == "MCP server"
    }

    assert (findings["shop"].level, findings["shop"].text) == (
        Level.FINE,
        "shop: mcp.shop.order.status, mcp.shop.quote",
    )
    assert (findings["down"].level, bool(findings["down"].remedy)) == (Level.WRONG, True)
