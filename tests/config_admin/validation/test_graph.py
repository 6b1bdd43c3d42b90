"""Which moves a state graph allows."""

import pytest

from config_admin.validation.graph import allows_move, leads_to, list_edges
from convengine.engine.turn.rows import StateEdge
from tests.config_admin.validation.shop import EDGES, shop


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
