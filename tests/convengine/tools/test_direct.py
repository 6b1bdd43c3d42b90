import pytest

from convengine.domain.turn import DecidingRow
from convengine.tools.direct import direct_row, row_request
from convengine.tools.request import InvalidToolRequest, ToolRequest
from convengine.tools.scope import tool_in_scope
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

ORDER = make_intent("ORDER")
SESSION = make_session(intent="ORDER", state="LOOKUP", context={"orderNumber": "A-7"}, user_text="where is it")


def test_a_tool_is_found_where_it_may_be_used_in_any_case() -> None:
    turn = make_turn(
        make_snapshot(ORDER, make_tool("order.status", tool_id=4), make_tool("other", intent_code="BILLING"))
    )

    found = tool_in_scope(SESSION, turn, " Order.STATUS ")
    assert found is not None
    assert found.tool_id == 4
    assert tool_in_scope(SESSION, turn, "other") is None
    assert tool_in_scope(SESSION, turn, "gone") is None


def test_without_rows_nothing_is_decided() -> None:
    turn = make_turn(make_snapshot(ORDER))

    assert direct_row(SESSION, turn) is None
    assert stages(turn) == []


def test_the_most_specific_row_wins_and_the_decision_tells_the_others() -> None:
    rows = (
        make_direct_tool("a", ce_tool_id=1, priority=1),
        make_direct_tool("b", ce_tool_id=2, intent_code="ORDER", priority=9),
        make_direct_tool("c", ce_tool_id=3, intent_code="ORDER", priority=5),
        make_direct_tool("d", ce_tool_id=4, enabled=False),
    )
    turn = make_turn(make_snapshot(ORDER, *rows))

    found = direct_row(SESSION, turn)

    assert found is not None
    assert found.ce_tool_id == 3
    told = payload(turn, "DECISION")
    assert [(one["id"], one.get("reason")) for one in told["candidates"]] == [
        (3, None),
        (2, "LOWER_PRIORITY"),
        (1, "LESS_SPECIFIC"),
    ]
    assert told["cut"] == {"DISABLED": 1}
    assert DecidingRow("ce_tool", "3", "TOOL") in turn.decided_rows


def test_arguments_are_templates_at_any_depth() -> None:
    args = {"orderId": "{{ context.orderNumber }}", "deep": [{"say": "{{ user_input }}!"}], "limit": 5, "kind": "all"}

    request = row_request(make_direct_tool("order.status", args_template=args), SESSION, make_turn())

    assert request == ToolRequest(
        "order.status", None, {"orderId": "A-7", "deep": [{"say": "where is it!"}], "limit": 5, "kind": "all"}
    )


def test_a_row_without_a_tool_asks_for_its_group() -> None:
    assert row_request(make_direct_tool(None, tool_group="rag"), SESSION, make_turn()) == ToolRequest(
        None, "DOCUMENT_RETRIEVAL"
    )


def test_an_argument_that_cannot_be_filled_in_is_refused() -> None:
    with pytest.raises(InvalidToolRequest, match="cannot be filled in"):
        row_request(make_direct_tool("a", args_template={"x": "{{ 'a' * }}"}), SESSION, make_turn())
