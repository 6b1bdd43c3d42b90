"""Queries on the state graph: which moves it allows."""

from collections.abc import Collection, Iterable

from config_admin.validation import relations
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot


def list_edges(snapshot: Snapshot, intent: str) -> tuple[rows.StateEdge, ...]:
    """The edges for an intent: its own, and those of ANY."""
    own = relations.find_rows_of_intent(snapshot, rows.StateEdge, intent) if code(intent) != ANY else ()
    return (*own, *relations.find_rows_of_intent(snapshot, rows.StateEdge, ANY))


def allows_move(graph: Iterable[rows.StateEdge], from_state: str, to_state: str) -> bool:
    """True when the states are equal or an edge allows the move; from ANY means: from somewhere."""
    start, end = code(from_state), code(to_state)
    return start == end or any(
        relations.scope_fits(code(edge.from_state), start) and code(edge.to_state) in (end, ANY) for edge in graph
    )


def leads_to(graph: Collection[rows.StateEdge], state: str) -> bool:
    """True when some edge ends in the state, coming from another."""
    wanted = code(state)
    return any(code(edge.to_state) in (wanted, ANY) and code(edge.from_state) != wanted for edge in graph)
