"""Neighbours of a row, found by index."""

from dataclasses import replace

import pytest

from config_admin.validation import relations
from config_admin.validation.relations import allows_move, leads_to, list_edges
from convengine.engine.turn import rows
from convengine.engine.turn.rows import StateEdge
from tests.config_admin.validation.shop import (
    ANSWERED,
    CANCELLED,
    CONFIRMING,
    EDGES,
    FALLBACK,
    RULE,
    SCHEMA,
    TOOL,
    shop,
)


def test_rows_of_the_same_scope_come_in_the_order_of_trying() -> None:
    first, last = replace(CANCELLED, response_id=20, priority=1), replace(CANCELLED, response_id=21)
    in_order = relations.find_rows_of_scope(shop(last, first, replace(first, response_id=22, enabled=False)), CANCELLED)
    assert [row.pk for row in in_order] == [20, 4, 21]


def test_rows_that_can_meet_the_same_session_share_its_scope() -> None:
    def find_rows(intent: str, state: str) -> set[int]:
        return {row.pk for row in relations.find_rows_sharing_scope(shop(), rows.Response, intent, state)}

    assert find_rows("CANCEL_ORDER", "CONFIRM") == {CONFIRMING.pk}
    assert find_rows("FAQ", "WHATEVER") == {ANSWERED.pk}
    assert find_rows("ANY", "UNKNOWN") == {FALLBACK.pk, ANSWERED.pk}


def test_a_row_that_is_not_stored_yet_comes_last_among_equals() -> None:
    new = replace(RULE, rule_id=None)  # type: ignore[arg-type]
    assert sorted([new, replace(RULE, rule_id=900), RULE], key=relations.rank) == [
        RULE,
        replace(RULE, rule_id=900),
        new,
    ]


def test_text_in_a_json_column_is_read() -> None:
    assert relations.as_json('{"a": 1}') == {"a": 1}
    assert relations.as_json({"a": 1}) == {"a": 1}
    assert relations.as_json("{") is relations.UNREADABLE
    assert relations.get_properties('{"properties": {"a": {}}}') == {"a": {}}
    assert relations.get_properties([]) == relations.get_properties({"properties": 3}) == {}


def test_the_fields_of_an_intent_are_those_of_its_schemas() -> None:
    other = replace(SCHEMA, schema_id=9, intent_code="FAQ", json_schema='{"properties": {"topic": {}}}')
    assert relations.list_form_fields(shop(other), "faq") == {"topic"}
    assert relations.list_form_fields(shop(other), "ANY") == {"topic", "orderNumber"}
    assert relations.list_form_fields(shop(other), "UNKNOWN") == set()


def test_a_tool_is_found_by_its_code_in_any_case() -> None:
    assert relations.find_tool(shop(), " Order.STATUS") == TOOL
    assert relations.find_tool(shop(), None) is None


def edge(start: str, end: str, intent: str = "ANY") -> StateEdge:
    return StateEdge(edge_id=50, intent_code=intent, from_state=start, to_state=end)


@pytest.mark.parametrize(
    ("start", "end", "allowed"),
    [
        ("IDLE", "CONFIRM", True),
        ("idle", "Confirm", True),
        ("IDLE", "CANCELLED", False),
        ("X", "ERROR", True),
        ("DONE", "X", True),
        ("X", "X", True),
        ("ANY", "CONFIRM", True),
        ("ANY", "CANCELLED", True),
        ("CONFIRM", "CANCELLED", False),
    ],
)
def test_a_move_needs_an_edge(start: str, end: str, allowed: bool) -> None:
    graph = [edge("IDLE", "CONFIRM"), edge("ANY", "ERROR"), edge("DONE", "ANY")]
    assert allows_move(graph, start, end) is allowed


def test_the_edges_of_an_intent_are_its_own_and_those_of_any() -> None:
    everywhere = edge("ANY", "ERROR")
    assert list_edges(shop(everywhere), "cancel_order") == (*EDGES, everywhere)
    assert list_edges(shop(everywhere), "FAQ") == list_edges(shop(everywhere), "ANY") == (everywhere,)


def test_an_edge_from_the_state_itself_does_not_lead_to_it() -> None:
    assert leads_to([edge("A", "B")], "b")
    assert leads_to([edge("A", "ANY")], "B")
    assert not leads_to([edge("B", "ANY")], "B")
