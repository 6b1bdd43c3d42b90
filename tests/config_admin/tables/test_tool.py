"""Save checks of tools that are called directly."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import DB_TOOL, DIRECT, HTTP_TOOL, TOOL, codes, list_messages

GROUPS = "DB, HTTP_API, WORKFLOW_ACTION, DOCUMENT_RETRIEVAL, CALCULATOR_TRANSFORM, NOTIFICATION, FILES"


@pytest.mark.parametrize("group", ["MCP_SERVER", "HTTP", "", "MAGIC"])
def test_the_group_is_of_the_list(group: str) -> None:
    assert ("CHOICE_UNKNOWN", f"Choose one of {GROUPS}.") in list_messages(replace(DIRECT, tool_group=group))


def test_a_group_of_an_extension_is_known_by_its_executor() -> None:
    assert "CHOICE_UNKNOWN" not in codes(replace(DIRECT, tool_group="MAGIC"), executors=frozenset({"MAGIC"}))


def test_the_tool_exists() -> None:
    assert list_messages(replace(DIRECT, tool_code="order.state")) == [
        ("TOOL_UNKNOWN", "There is no tool order.state. Did you mean order.status?")
    ]


def test_the_tool_is_of_the_group() -> None:
    assert list_messages(replace(DIRECT, tool_code="orders.find")) == [
        ("TOOL_GROUP_MISMATCH", "orders.find belongs to group DB.")
    ]


def test_a_group_without_a_tool_needs_the_switch() -> None:
    assert list_messages(replace(DIRECT, tool_code=None)) == [
        (
            "CONFLICT",
            "Choose a tool. A group alone is only called if “Accept requests without a tool” is on in the settings.",
        )
    ]
    switch = rows.Config(
        config_id=8, config_type="ToolOrchestrationStep", config_key="ALLOW_GROUP_ONLY", config_value="true"
    )
    assert codes(replace(DIRECT, tool_code=None), switch) == []


@pytest.mark.parametrize("args", [[], "[]", 3, None])
def test_arguments_are_an_object(args: Any) -> None:
    assert list_messages(replace(DIRECT, args_template=args)) == [("ARGS_SHAPE", "Arguments must be a JSON object.")]


def test_arguments_are_templates() -> None:
    assert codes(replace(DIRECT, args_template={"orderId": ["{{ open"]})) == ["TEMPLATE_INVALID"]
    assert codes(replace(DIRECT, args_template={"orderId": {"deep": "{{ colour }}"}})) == ["TEMPLATE_VAR_UNKNOWN"]


def test_required_arguments_are_given() -> None:
    assert list_messages(replace(DIRECT, args_template={})) == [
        ("FIELD_REQUIRED", "The tool order.status requires the argument orderId.")
    ]


def test_required_arguments_are_found_wherever_the_tool_describes_them() -> None:
    own = replace(TOOL, input_schema={"type": "object", "required": ["other"]})
    assert list_messages(replace(DIRECT, args_template={}), own, without=[HTTP_TOOL]) == [
        ("FIELD_REQUIRED", "The tool order.status requires the argument other.")
    ]
    query = replace(DIRECT, tool_group="DB", tool_code="orders.find", args_template={})
    assert list_messages(query, DB_TOOL) == [("FIELD_REQUIRED", "The tool orders.find requires the argument orderId.")]


def test_a_tool_that_is_not_allowed_here_would_be_skipped() -> None:
    assert (
        "TOOL_SCOPE",
        "order.status is only allowed for intent ORDER_STATUS, state ANY, so this call is always skipped.",
    ) in list_messages(replace(DIRECT, intent_code="FAQ"))
    assert (
        "TOOL_SCOPE",
        "order.status is disabled, so this call is always skipped. Enable the tool.",
    ) in list_messages(DIRECT, replace(TOOL, enabled=False))


def test_a_group_without_an_executor_is_told() -> None:
    assert list_messages(DIRECT, executors=frozenset()) == [
        ("NO_EXECUTOR", "No executor is installed for group HTTP_API.")
    ]


def test_only_the_first_row_of_a_scope_is_called() -> None:
    assert "SHADOWED_ROW" in codes(replace(DIRECT, ce_tool_id=2, args_template={"orderId": "1"}))


@pytest.mark.parametrize(
    ("values", "server", "findings"),
    [
        ({}, {}, []),
        ({}, {"allowed_tools_json": ["quote"]}, []),
        ({"tool_code": "MCP.Shop.quote"}, {}, []),
        ({}, {"allowed_tools_json": ["quotes"]}, ["There is no tool mcp.shop.quote. Did you mean mcp.shop.quotes?"]),
        ({"tool_code": "mcp.shoo.quote"}, {}, ["There is no tool mcp.shoo.quote.", f"Choose one of {GROUPS}."]),
        ({"tool_group": "DB"}, {}, ["mcp.shop.quote belongs to group MCP_SERVER."]),
        (
            {},
            {"intent_code": "OTHER"},
            ["The MCP server shop is only allowed for intent OTHER, state ANY, so this call is always skipped."],
        ),
    ],
)
def test_a_tool_of_an_mcp_server_needs_no_row(values: Any, server: Any, findings: list[str]) -> None:
    call = replace(DIRECT, **{"tool_code": "mcp.shop.quote", "tool_group": "MCP_SERVER", "args_template": {}, **values})
    row = rows.McpServer(server_id=1, name="shop", transport="STDIO", **server)

    assert sorted(text for _, text in list_messages(call, row, executors=frozenset({"MCP_SERVER"}))) == sorted(findings)
