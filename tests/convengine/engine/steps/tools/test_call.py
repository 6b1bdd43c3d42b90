from typing import Any

import pytest

from convengine.engine.steps.tools.call import (
    ERROR,
    MISMATCH,
    SUCCESS,
    InvalidToolRequest,
    ToolOutcome,
    ToolRequest,
    build_row_request,
    call_tool,
    choose_direct_row,
    describe_tool,
    get_mcp_branch,
    read_request,
)
from convengine.engine.steps.tools.scope import find_tool_in_scope
from convengine.engine.steps.tools.scripted import ScriptedTools, Stub
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.turn import DecidingRow
from tests.builders import (
    make_direct_tool,
    make_intent,
    make_session,
    make_snapshot,
    make_tool,
    make_turn,
    payload,
    stages,
)

COUNTED = make_tool(
    "count", input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


class Telling:
    """Tools that tell the audit of what they did."""

    def run(self, *request: Any) -> ToolAnswer:
        return ToolAnswer(1, stage_payloads={"MCP_DB_SQL_EXECUTION": {"sql": "SELECT 1"}})


def test_a_tool_gets_arguments_that_fit_its_schema() -> None:
    tools = ScriptedTools([Stub("count", result=7)])
    turn = make_turn(make_snapshot(COUNTED), tools=tools)

    assert call_tool(make_session(), turn, COUNTED, "HTTP_API", {"n": "12"}) == ToolAnswer(7)
    assert tools.calls[0].args == {"n": 12}


def test_a_tool_is_not_called_with_arguments_that_do_not_fit() -> None:
    tools = ScriptedTools([Stub("count", result=7)])

    answer = call_tool(make_session(), make_turn(make_snapshot(COUNTED), tools=tools), COUNTED, "HTTP_API", {})

    assert (answer.error_type, answer.error_message) == ("INVALID_ARGS", "'n' is a required property")
    assert tools.calls == []


def test_what_an_executor_tells_is_audited() -> None:
    turn = make_turn(make_snapshot(COUNTED), tools=Telling())

    call_tool(make_session(), turn, COUNTED, "DB", {"n": 1})

    assert stages(turn) == ["MCP_DB_SQL_EXECUTION"]
    assert payload(turn, "MCP_DB_SQL_EXECUTION")["sql"] == "SELECT 1"


ORDER = make_intent("ORDER")
SESSION = make_session(intent="ORDER", state="LOOKUP", context={"orderNumber": "A-7"}, user_text="where is it")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_no_request(value: Any) -> None:
    assert read_request(value) is None


def test_P2_3_4_V6_a_json_text_is_read_like_an_object() -> None:
    assert read_request('{"tool_code":"a"}') == read_request({"tool_code": "a"}) == ToolRequest("a")


def test_blank_names_are_no_names_and_arguments_must_be_an_object() -> None:
    assert read_request({"tool_code": " a ", "tool_group": " ", "args": [1]}) == ToolRequest("a", None, {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "must be an object"),
        (7, "must be an object"),
        ({}, "neither a tool_code nor a tool_group"),
        ({"args": {"id": 1}}, "neither"),
        ({"tool_code": 5}, "tool_code of tool_request must be a text"),
    ],
)
def test_what_names_no_tool_is_refused_with_the_reason(value: Any, message: str) -> None:
    with pytest.raises(InvalidToolRequest, match=message):
        read_request(value)


def test_a_tool_is_found_where_it_may_be_used_in_any_case() -> None:
    turn = make_turn(
        make_snapshot(ORDER, make_tool("order.status", tool_id=4), make_tool("other", intent_code="BILLING"))
    )

    tool = find_tool_in_scope(SESSION, turn, " Order.STATUS ").tool
    assert tool is not None
    assert tool.tool_id == 4
    assert find_tool_in_scope(SESSION, turn, "other") == (None, None)
    assert find_tool_in_scope(SESSION, turn, "gone") == (None, None)


def test_without_rows_nothing_is_decided() -> None:
    turn = make_turn(make_snapshot(ORDER))

    assert choose_direct_row(SESSION, turn) is None
    assert stages(turn) == []


def test_the_most_specific_row_wins_and_the_decision_tells_the_others() -> None:
    rows = (
        make_direct_tool("a", ce_tool_id=1, priority=1),
        make_direct_tool("b", ce_tool_id=2, intent_code="ORDER", priority=9),
        make_direct_tool("c", ce_tool_id=3, intent_code="ORDER", priority=5),
        make_direct_tool("d", ce_tool_id=4, enabled=False),
    )
    turn = make_turn(make_snapshot(ORDER, *rows))

    chosen = choose_direct_row(SESSION, turn)

    assert chosen is not None
    assert chosen.ce_tool_id == 3
    event = payload(turn, "DECISION")
    assert [(candidate["id"], candidate.get("reason")) for candidate in event["candidates"]] == [
        (3, None),
        (2, "LOWER_PRIORITY"),
        (1, "LESS_SPECIFIC"),
    ]
    assert event["cut"] == {"DISABLED": 1}
    assert DecidingRow("ce_tool", "3", "TOOL") in turn.decided_rows


def test_arguments_are_templates_at_any_depth() -> None:
    args = {"orderId": "{{ context.orderNumber }}", "deep": [{"say": "{{ user_input }}!"}], "limit": 5, "kind": "all"}

    request = build_row_request(make_direct_tool("order.status", args_template=args), SESSION, make_turn())

    assert request == ToolRequest(
        "order.status", None, {"orderId": "A-7", "deep": [{"say": "where is it!"}], "limit": 5, "kind": "all"}
    )


def test_a_row_without_a_tool_asks_for_its_group() -> None:
    assert build_row_request(make_direct_tool(None, tool_group="rag"), SESSION, make_turn()) == ToolRequest(
        None, "DOCUMENT_RETRIEVAL"
    )


def test_an_argument_that_cannot_be_filled_in_is_refused() -> None:
    with pytest.raises(InvalidToolRequest, match="cannot be filled in"):
        build_row_request(make_direct_tool("a", args_template={"x": "{{ 'a' * }}"}), SESSION, make_turn())


SESSION_OUTCOME = make_session(intent="LOAN", state="IDLE")


def test_a_success_tells_its_result() -> None:
    outcome = ToolOutcome(SUCCESS, "a", "DB", {"x": 1}, {"rows": 2}, tool=make_tool("a", tool_id=3))

    assert outcome.to_result(SESSION_OUTCOME)["result"] == {"rows": 2}
    execution = outcome.to_execution()
    assert (execution["outcome"], execution["toolExecuted"], execution["error"]) == ("SUCCESS", True, False)
    assert (execution["args"], execution["meta"]["tool_id"]) == ({"x": 1}, 3)


def test_an_error_tells_what_went_wrong() -> None:
    outcome = ToolOutcome(ERROR, "a", error="down")

    assert outcome.to_result(SESSION_OUTCOME) == {
        "status": "ERROR", "tool_code": "a", "tool_group": None, "error": "down", "_meta": {},
    }  # fmt: skip
    assert (outcome.to_execution()["errorMessage"], outcome.to_execution()["error"]) == ("down", True)


def test_a_mismatch_tells_where_the_session_stood() -> None:
    outcome = ToolOutcome(MISMATCH, "a", "DB")

    assert (outcome.to_result(SESSION_OUTCOME)["intent"], outcome.to_result(SESSION_OUTCOME)["state"]) == (
        "LOAN",
        "IDLE",
    )
    execution = outcome.to_execution()
    assert (execution["outcome"], execution["scopeMismatch"], execution["toolExecuted"]) == (
        "SCOPE_MISMATCH",
        True,
        False,
    )
    assert "result" not in execution


def test_a_branch_that_is_no_object_reads_as_empty() -> None:
    assert get_mcp_branch(make_session(context={"mcp": "text"})) == {}


def test_without_a_row_there_is_nothing_to_tell_of_it() -> None:
    assert describe_tool(None) == {}
