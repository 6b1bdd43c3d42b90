"""Questions to the state graph: which moves it allows (tables 2.4, pipeline-2 8.2)."""

from collections.abc import Collection, Iterable

from config_admin.validation import relations
from convengine.domain import rows
from convengine.domain.scope import ANY
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code


def edges(snapshot: Snapshot, intent: str) -> tuple[rows.StateEdge, ...]:
    """The edges that apply to an intent: its own, and those of ANY."""
    own = relations.of_intent(snapshot, rows.StateEdge, intent) if code(intent) != ANY else ()
    return (*own, *relations.of_intent(snapshot, rows.StateEdge, ANY))


def allows(graph: Iterable[rows.StateEdge], from_state: str, to_state: str) -> bool:
    """True when the states are equal or an edge admits the move; from ANY means: from somewhere."""
    start, end = code(from_state), code(to_state)
    return start == end or any(
        relations.scope_fits(code(edge.from_state), start) and code(edge.to_state) in (end, ANY) for edge in graph
    )


def leads_to(graph: Collection[rows.StateEdge], state: str) -> bool:
    """True when some edge ends in the state, coming from another."""
    wanted = code(state)
    return any(code(edge.to_state) in (wanted, ANY) and code(edge.from_state) != wanted for edge in graph)
