"""Save checks of the registry of tools."""

from dataclasses import replace

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import DB, DB_TOOL, DIRECT, HTTP_TOOL, TOOL, codes, list_messages


@pytest.mark.parametrize("code", ["", "order status", "é", "x" * 121])
def test_a_tool_code_has_a_shape(code: str) -> None:
    assert (
        "CODE_FORMAT",
        "Use only letters, digits, underscores, dots and hyphens, at most 120 characters (for example order.status).",
    ) in list_messages(replace(TOOL, tool_code=code))


def test_a_tool_code_stands_once_ignoring_case() -> None:
    assert list_messages(replace(TOOL, tool_id=50, tool_code="ORDER.Status")) == [
        ("DUPLICATE", "The tool ORDER.Status already exists (row 9).")
    ]
    assert codes(replace(TOOL, tool_id=50), replace(TOOL, enabled=False)) == ["DUPLICATE"]


def test_the_group_is_of_the_list() -> None:
    assert codes(replace(TOOL, tool_group="MCP_SERVER")) == ["CHOICE_UNKNOWN"]


def test_the_description_of_the_arguments_is_a_json_schema() -> None:
    assert codes(replace(TOOL, input_schema=[])) == ["SHAPE_INVALID"]
    assert codes(replace(TOOL, input_schema={"type": "thing"})) == ["SHAPE_INVALID"]
    assert codes(replace(TOOL, input_schema={"type": "object"})) == []


def test_the_planner_chooses_by_the_description() -> None:
    assert list_messages(replace(TOOL, description=None)) == [
        ("TOOL_NO_DESCRIPTION", "The planner knows the tool only by this text. Describe what the tool does.")
    ]


def test_a_tool_for_everything_is_questioned() -> None:
    assert list_messages(replace(TOOL, intent_code="ANY"), without=[DIRECT]) == [
        ("TOOL_SCOPE_ANY", "Every intent and state may call this tool. Narrow the scope unless this is intended.")
    ]


def test_a_tool_for_everything_that_only_direct_calls_run_is_fine() -> None:
    everywhere = replace(TOOL, intent_code="ANY")

    assert codes(everywhere, model_configured=False) == []
    assert codes(everywhere, replace(DIRECT, tool_code=DIRECT.tool_code.upper()), model_configured=False) == []
    assert codes(everywhere, replace(DIRECT, enabled=False), model_configured=False) == ["TOOL_SCOPE_ANY"]
    assert codes(everywhere, model_configured=True) == ["TOOL_SCOPE_ANY"]


def test_a_database_tool_has_sql_or_a_handler() -> None:
    assert list_messages(DB, without=[DB_TOOL]) == [
        (
            "DB_TOOL_WITHOUT_SQL",
            ("The tool orders.find has no SQL template and no registered handler. Add one of them."),
        )
    ]
    assert codes(DB, without=[DB_TOOL], tool_handlers=frozenset({"orders.find"})) == []


def test_an_http_tool_has_a_row_or_a_handler() -> None:
    assert list_messages(TOOL, without=[HTTP_TOOL]) == [
        ("HTTP_TOOL_WITHOUT_HANDLER", "No handler is registered for order.status.")
    ]
    assert codes(TOOL, without=[HTTP_TOOL], tool_handlers=frozenset({"order.status"})) == []


def test_a_group_without_an_executor_is_told() -> None:
    assert codes(TOOL, executors=frozenset({"DB"})) == ["NO_EXECUTOR"]


def test_an_action_is_a_handler_or_a_task() -> None:
    def action(tool_code: str) -> rows.Tool:
        return replace(TOOL, tool_code=tool_code, tool_group="WORKFLOW_ACTION")

    both = frozenset({"DB", "HTTP_API", "WORKFLOW_ACTION"})
    assert list_messages(action("orderTask.refund"), executors=both)[0][0] == "NOT_REGISTERED"
    for known in ("orderTask.cancel", "orderTask"):
        assert "NOT_REGISTERED" not in codes(action(known), executors=both)
    assert "NOT_REGISTERED" not in codes(action("x"), executors=both, tool_handlers=frozenset({"x"}))
