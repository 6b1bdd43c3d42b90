"""The states and moves of an intent, of all intents, or of all states, from the rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from config_admin.health.reachability import is_reachable
from config_admin.validation import relations
from config_admin.validation.relations import find_rows_of_intent
from config_admin.validation.rule_effects import is_move, list_required_values
from config_admin.workplace.intent_overview import list_states, list_unanswered_states
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot


class MapMark(StrEnum):
    """A remark about a state or a move."""

    UNREACHABLE = "UNREACHABLE"
    NO_ANSWER = "NO_ANSWER"
    ENDS = "ENDS"
    FORBIDDEN = "FORBIDDEN"
    ROUND = "ROUND"
    UNTESTED = "UNTESTED"


#: The label and the sentence of a mark.
WORDS: Mapping[MapMark, tuple[str, str]] = {
    MapMark.UNREACHABLE: ("unreachable", "No phrase, rule or state graph edge leads to this state."),
    MapMark.NO_ANSWER: ("no answer", "A turn that ends in this state has no answer and fails."),
    MapMark.ENDS: ("final state", "No rule leads to another state. This is fine for a final state."),
    MapMark.FORBIDDEN: (
        "not in the state graph",
        "The state graph does not allow this move, so the turn gets a warning.",
    ),
    MapMark.ROUND: ("loop", "These moves form a loop."),
    MapMark.UNTESTED: ("not tested", "No test plays this."),
}


class NodeKind(StrEnum):
    """The kind of a node."""

    #: An incoming message.
    START = "START"
    STATE = "STATE"
    #: The start of rules for any state.
    ANYWHERE = "ANYWHERE"
    #: Another intent that a rule sets.
    INTENT = "INTENT"


@dataclass(frozen=True)
class Node:
    """A node of the graph. `rows` apply there, by table."""

    key: str
    kind: NodeKind
    intent: str
    state: str = ""
    rows: tuple[Row, ...] = ()
    marks: tuple[MapMark, ...] = ()


@dataclass
class MapEdge:
    start: str
    end: str
    rows: list[Row] = field(default_factory=list)
    #: True while all its rows belong to every intent.
    is_shared: bool = True
    marks: tuple[MapMark, ...] = ()


@dataclass(frozen=True)
class StateMap:
    nodes: tuple[Node, ...]
    moves: tuple[MapEdge, ...]


START, ANYWHERE = "start", "anywhere"
#: What may apply in one state of one intent.
_STATE_ROW_TYPES: tuple[type[Any], ...] = (
    rows.Response, rows.PendingAction, rows.OutputSchema, rows.DirectTool, rows.PromptTemplate,
)  # fmt: skip


def make_intent_chart(snapshot: Snapshot, intent: str) -> StateMap:
    """The states and moves of one intent; rules of every intent count if their state belongs to it."""
    return _ChartBuilder(snapshot, code(intent)).chart()


def make_overview_chart(snapshot: Snapshot) -> StateMap:
    """Each intent as one node, with the phrases that lead to it and the rules between intents."""
    drawing = _ChartBuilder(snapshot, ANY)
    intents = [row for row in snapshot.enabled_rows(rows.Intent) if code(row.intent_code) not in (ANY, UNKNOWN)]
    intents.sort(key=lambda row: row.name.casefold())
    for row in snapshot.enabled_rows(rows.Classifier):
        if snapshot.is_active(row.intent_code):
            drawing.move(START, _intent_key(row.intent_code), row)
    for rule in snapshot.enabled_rows(rows.Rule):
        if is_move(rule, RuleAction.SET_INTENT):
            start = list_required_values(rule).get("@.intent", code(rule.intent_code))
            drawing.move(ANYWHERE if code(start) == ANY else _intent_key(start), _intent_key(rule.action_value), rule)
    known = {_intent_key(row.intent_code): (row,) for row in intents}
    reached = {move.end for move in drawing.moves.values()}
    nodes = [
        Node(
            key,
            NodeKind.INTENT,
            key.removeprefix("intent:"),
            rows=own,
            marks=() if key in reached else (MapMark.UNREACHABLE,),
        )
        for key, own in known.items()
    ]
    others = [
        Node(key, NodeKind.INTENT, key.removeprefix("intent:"))
        for key in sorted(drawing.list_named_states() - known.keys())
    ]
    return StateMap((*drawing.special(), *nodes, *others), drawing.mark_moves())


class _ChartBuilder:
    """The edges found so far."""

    def __init__(self, snapshot: Snapshot, intent: str) -> None:
        self._snapshot = snapshot
        self._intent = intent
        self.moves: dict[tuple[str, str], MapEdge] = {}

    def move(self, start: str, end: str, row: Row) -> None:
        """Add a row to the edge between two nodes."""
        move = self.moves.setdefault((start, end), MapEdge(start, end))
        move.rows.append(row)
        move.is_shared = move.is_shared and self._intent != ANY and code(getattr(row, "intent_code", "")) == ANY

    def chart(self) -> StateMap:
        """The graph: states by name, then the intents that rules lead to."""
        states = list_states(self._snapshot, self._intent)
        for row in find_rows_of_intent(self._snapshot, rows.Classifier, self._intent):
            # A phrase with state ANY keeps the state; a conversation begins in UNKNOWN.
            self.move(START, _state_key(UNKNOWN if code(row.state_code) in ("", ANY) else row.state_code), row)
        for rule in self._rules(states):
            self._rule(rule)
        named = sorted(self.list_named_states())
        all_states = sorted({*states, *(key.removeprefix("state:") for key in named if key.startswith("state:"))})
        # As in the health check: a state without resting conversations needs no answer.
        resting = [state for state in all_states if state not in BUILT_IN_STATES and self._reaches(state)]
        silent = set(list_unanswered_states(self._snapshot, self._intent, resting))
        nodes = [self._build_node(state, silent) for state in all_states]
        turned = [Node(key, NodeKind.INTENT, key.removeprefix("intent:")) for key in named if key.startswith("intent:")]
        return StateMap((*self.special(), *nodes, *turned), self.mark_moves())

    def special(self) -> Iterator[Node]:
        """The nodes that are no states, if edges begin there."""
        if any(start == START for start, _ in self.moves):
            yield Node(START, NodeKind.START, self._intent)
        if any(start == ANYWHERE for start, _ in self.moves):
            yield Node(ANYWHERE, NodeKind.ANYWHERE, self._intent)

    def list_named_states(self) -> set[str]:
        """The keys at either end of an edge that are states and intents."""
        return {key for ends in self.moves for key in ends} - {START, ANYWHERE}

    def mark_moves(self) -> tuple[MapEdge, ...]:
        """The edges, with marks for circles and for moves that the state graph forbids."""
        allowed = relations.list_edges(self._snapshot, self._intent)
        round_trips = _round_trips(self.moves)
        for ends, move in self.moves.items():
            marks = [MapMark.ROUND] if ends in round_trips else []
            start, end = (key.removeprefix("state:") for key in ends)
            between_states = all(key.startswith("state:") for key in ends)
            if between_states and allowed and not relations.allows_move(allowed, start, end):
                marks.append(MapMark.FORBIDDEN)
            move.marks = tuple(marks)
        return tuple(self.moves.values())

    def _rules(self, states: Iterable[str]) -> Iterator[rows.Rule]:
        yield from find_rows_of_intent(self._snapshot, rows.Rule, self._intent)
        if self._intent != ANY:
            for rule in find_rows_of_intent(self._snapshot, rows.Rule, ANY):
                if code(list_required_values(rule).get("@.state", rule.state_code)) in states:
                    yield rule

    def _rule(self, rule: rows.Rule) -> None:
        if not is_move(rule):
            return
        start = code(list_required_values(rule).get("@.state", rule.state_code))
        end, value = (_state_key if is_move(rule, RuleAction.SET_STATE) else _intent_key), code(rule.action_value)
        if value and value != start:
            self.move(ANYWHERE if start == ANY else _state_key(start), end(value), rule)

    def _reaches(self, state: str) -> bool:
        return is_reachable(self._snapshot, self._intent, state)

    def _build_node(self, state: str, silent: set[str]) -> Node:
        key = _state_key(state)
        marks = []
        if not self._reaches(state):
            marks.append(MapMark.UNREACHABLE)
        if state in silent:
            marks.append(MapMark.NO_ANSWER)
        if not any(start == key and end != key for start, end in self.moves):
            marks.append(MapMark.ENDS)
        # The rows for exactly this state of the intent: answers, actions, prompts, forms, tools.
        own = [
            row
            for row_type in _STATE_ROW_TYPES
            for row in find_rows_of_intent(self._snapshot, row_type, self._intent)
            if code(row.state_code) == state
        ]
        return Node(key, NodeKind.STATE, self._intent, state, tuple(own), tuple(marks))


def _state_key(state: str | None) -> str:
    return f"state:{code(state)}"


def _intent_key(intent: str | None) -> str:
    return f"intent:{code(intent)}"


def _round_trips(ends: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges whose start can be reached from their end."""
    onward: dict[str, set[str]] = {}
    for start, end in ends:
        onward.setdefault(start, set()).add(end)
    reached = {}
    for key in onward:
        waiting, seen = [key], set()
        while waiting:
            for after in onward.get(waiting.pop(), ()):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        reached[key] = seen
    return {(start, end) for start, end in ends if start in reached.get(end, ())}


#: Maximum nodes of one drawing, including the group that exceeds it.
MOST = 1500


def make_state_chart(snapshot: Snapshot, begin: str = "", most: int = MOST) -> tuple[StateMap, str]:
    """The drawing of intents from one on, in the order of their names, and the first intent of the next page.

    The latter is blank on the last page.
    """
    intents = _list_intents(snapshot)
    intents = intents[intents.index(code(begin)) if code(begin) in intents else 0 :]
    nodes: list[Node] = []
    moves: list[MapEdge] = []
    rest = ""
    for intent in intents:
        if len(nodes) >= most:
            rest = intent
            break
        own, row = make_intent_chart(snapshot, intent), snapshot.row(rows.Intent, intent)
        nodes.append(Node(_qualify_key(intent, START), NodeKind.INTENT, intent, rows=(row,) if row else ()))
        nodes += (
            replace(node, key=_qualify_key(intent, node.key))
            for node in own.nodes
            if node.kind in (NodeKind.STATE, NodeKind.ANYWHERE)
        )
        moves += (
            replace(move, start=_qualify_key(intent, move.start), end=_qualify_key(intent, move.end))
            for move in own.moves
        )
    # The intents that edges lead to and that are not drawn here: disabled, missing, or on another page.
    others = sorted({move.end for move in moves} - {node.key for node in nodes})
    linked = [Node(key, NodeKind.INTENT, key.removeprefix("intent:")) for key in others]
    return StateMap((*_mark_nodes(nodes, moves), *linked), tuple(moves)), rest


def _list_intents(snapshot: Snapshot) -> list[str]:
    intents = {code(row.intent_code) for row in snapshot.enabled_rows(rows.Intent)} - {ANY, UNKNOWN}
    by_name = sorted(intents, key=lambda intent: get_intent_name(snapshot, intent).casefold())
    return [*by_name, *(intent for intent in (ANY, UNKNOWN) if make_intent_chart(snapshot, intent).moves)]


def _qualify_key(intent: str, key: str) -> str:
    """The key of a node in the whole drawing; the start node of an intent is the intent's own node."""
    if key == START:
        return f"intent:{intent}"
    return key if key.startswith("intent:") else f"{intent}/{key}"


def _mark_nodes(nodes: list[Node], moves: list[MapEdge]) -> Iterator[Node]:
    """The nodes, with a mark for intents that no phrase and no rule leads to."""
    led_to = {move.end for move in moves} | {move.start for move in moves if move.start.startswith("intent:")}
    for node in nodes:
        is_lost = node.kind is NodeKind.INTENT and node.key not in led_to and node.intent not in (ANY, UNKNOWN)
        yield replace(node, marks=(MapMark.UNREACHABLE,)) if is_lost else node
