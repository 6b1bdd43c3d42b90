"""What of a map no test plays."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from config_admin.test_cases.coverage import measure_coverage
from config_admin.workplace.map.graph import Chart, Mark, Move, Node, NodeKind
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.coverage import MOVES, STATES


@dataclass(frozen=True)
class TestedMap:
    """A map on which everything that no test plays is marked."""

    __test__ = False
    chart: Chart
    #: Of each row, state and move that a test can play: whether one does.
    is_played: Mapping[tuple[str, ...], bool]
    #: Tests that ran on this state of the configuration, and all tests.
    ran: int
    total: int

    @property
    def unplayed_states(self) -> int:
        """How many boxes have the mark."""
        return sum(Mark.UNTESTED in node.marks for node in self.chart.nodes)

    @property
    def unplayed_moves(self) -> int:
        """How many arrows have the mark."""
        return sum(Mark.UNTESTED in move.marks for move in self.chart.moves)

    def is_unplayed(self, row: Row) -> bool:
        """True for a row that a test could play, and none does."""
        return self.is_played.get(_get_key(row)) is False


def mark_untested(chart: Chart, snapshot: Snapshot) -> TestedMap:
    """Mark the states and moves that the newest result of no test on this state reaches."""
    measured = measure_coverage(snapshot)
    is_played = {key: bool(item.scenarios) for key, item in measured.coverage.items.items()}
    intents: dict[str, list[bool]] = {}
    for key, intent in measured.intents.items():
        intents.setdefault(intent, []).append(is_played[key])

    def list_known(node: Node) -> list[bool]:
        if node.kind is NodeKind.INTENT:
            return intents.get(node.intent, [])
        key = (STATES, code(node.intent), code(node.state))
        return [is_played[key]] if key in is_played else []

    def list_known_rows(move: Move) -> list[bool]:
        return [is_played[key] for row in move.rows if (key := _get_key(row)) in is_played]

    for move in chart.moves:
        if (known := list_known_rows(move)) and not any(known):
            move.marks = (*move.marks, Mark.UNTESTED)

    def is_unplayed(node: Node) -> bool:
        if known := list_known(node):
            return not any(known)
        # A state of rules for every intent is played only over a move that is.
        ways = [Mark.UNTESTED in move.marks for move in chart.moves if move.end == node.key]
        return node.kind is NodeKind.STATE and bool(ways) and all(ways)

    nodes = tuple(
        replace(node, marks=(*node.marks, Mark.UNTESTED)) if is_unplayed(node) else node for node in chart.nodes
    )
    return TestedMap(replace(chart, nodes=nodes), is_played, measured.ran, measured.total)


def _get_key(row: Row) -> tuple[str, ...]:
    """The key of a row in the coverage; an edge of the state graph is a move."""
    if isinstance(row, rows.StateEdge):
        return MOVES, code(row.intent_code), code(row.from_state), code(row.to_state)
    return row.table, str(row.pk)
