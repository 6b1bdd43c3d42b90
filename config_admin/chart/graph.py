"""States and moves of an intent, or of all, from the rows that name them or lead to them (tables 2.2 to 2.4)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from config_admin.admin.places.concerning import states_of, unanswered
from config_admin.health.reach import reaches
from config_admin.validation import graph
from config_admin.validation.checks.rule_moves import demands, moves
from config_admin.validation.relations import of_intent
from convengine.domain import rows
from convengine.domain.enums import RuleAction
from convengine.domain.rows import Row
from convengine.domain.scope import ANY, BUILT_IN_STATES, UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code


class Mark(StrEnum):
    """What is to be told of a state or a move."""

    UNREACHABLE = "UNREACHABLE"
    NO_ANSWER = "NO_ANSWER"
    ENDS = "ENDS"
    FORBIDDEN = "FORBIDDEN"
    ROUND = "ROUND"


#: What a mark means, in a few words and in a sentence.
WORDS: Mapping[Mark, tuple[str, str]] = {
    Mark.UNREACHABLE: ("nothing leads here", "No phrase, rule or allowed move leads to this state."),
    Mark.NO_ANSWER: ("no answer", "A turn that ends in this state has nothing to say, and fails."),
    Mark.ENDS: ("ends here", "No rule leads on from this state. Good for an end, a dead end elsewhere."),
    Mark.FORBIDDEN: ("not in the graph", "The state graph does not allow this move: the turn is flagged."),
    Mark.ROUND: ("goes round", "These moves lead back to where they began."),
}


class Kind(StrEnum):
    """What a place of the drawing is."""

    #: A message that comes in.
    START = "START"
    STATE = "STATE"
    #: Rules that hold in any state begin here.
    ANYWHERE = "ANYWHERE"
    #: Another intent, to which a rule turns.
    INTENT = "INTENT"


@dataclass(frozen=True)
class Place:
    """A box of the drawing. `rows` are those that hold there, by table."""

    key: str
    kind: Kind
    intent: str
    state: str = ""
    rows: tuple[Row, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass
class Move:
    """An arrow: from one place to another, by these rows."""

    start: str
    end: str
    rows: list[Row] = field(default_factory=list)
    #: True while all its rows are those of every intent.
    is_shared: bool = True
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Chart:
    """The drawing."""

    places: tuple[Place, ...]
    moves: tuple[Move, ...]


START, ANYWHERE = "start", "anywhere"
#: What may hold in one state of one intent.
_THERE: tuple[type[Any], ...] = (
    rows.Response, rows.PendingAction, rows.OutputSchema, rows.DirectTool, rows.PromptTemplate,
)  # fmt: skip


def chart_of(snapshot: Snapshot, intent: str) -> Chart:
    """The states and moves of one intent; rules of every intent count where their state is one of its own."""
    return _Drawing(snapshot, code(intent)).chart()


def chart_of_all(snapshot: Snapshot) -> Chart:
    """Each intent as one place, with the phrases that lead to it and the rules that turn from one to another."""
    drawing = _Drawing(snapshot, ANY)
    intents = [row for row in snapshot.enabled(rows.Intent) if code(row.intent_code) not in (ANY, UNKNOWN)]
    for row in snapshot.enabled(rows.Classifier):
        if snapshot.is_active(row.intent_code):
            drawing.move(START, _intent_key(row.intent_code), row)
    for rule in snapshot.enabled(rows.Rule):
        if moves(rule, RuleAction.SET_INTENT):
            start = demands(rule).get("@.intent", code(rule.intent_code))
            drawing.move(ANYWHERE if code(start) == ANY else _intent_key(start), _intent_key(rule.action_value), rule)
    known = {_intent_key(row.intent_code): (row,) for row in intents}
    reached = {move.end for move in drawing.moves.values()}
    places = [
        Place(
            key, Kind.INTENT, key.removeprefix("intent:"), rows=own, marks=() if key in reached else (Mark.UNREACHABLE,)
        )
        for key, own in known.items()
    ]
    others = [Place(key, Kind.INTENT, key.removeprefix("intent:")) for key in sorted(drawing.named() - known.keys())]
    return Chart((*drawing.special(), *places, *others), drawing.marked())


class _Drawing:
    """The arrows found so far."""

    def __init__(self, snapshot: Snapshot, intent: str) -> None:
        self._snapshot = snapshot
        self._intent = intent
        self.moves: dict[tuple[str, str], Move] = {}

    def move(self, start: str, end: str, row: Row) -> None:
        """Add a row to the arrow between two places."""
        found = self.moves.setdefault((start, end), Move(start, end))
        found.rows.append(row)
        found.is_shared = found.is_shared and self._intent != ANY and code(getattr(row, "intent_code", "")) == ANY

    def chart(self) -> Chart:
        """States with what holds there, in the order in which they are reached."""
        states = states_of(self._snapshot, self._intent)
        for row in of_intent(self._snapshot, rows.Classifier, self._intent):
            self.move(START, _state_key(_stays(row.state_code)), row)
        for rule in self._rules(states):
            self._rule(rule, states)
        found = dict.fromkeys(
            (*states, *(key.removeprefix("state:") for key in self.named() if key.startswith("state:")))
        )
        # As the health check has it: nobody writes an answer for where no conversation comes to rest.
        resting = [state for state in found if state not in BUILT_IN_STATES and self._reaches(state)]
        silent = set(unanswered(self._snapshot, self._intent, resting))
        places = [self._place(state, silent) for state in found]
        turned = [
            Place(key, Kind.INTENT, key.removeprefix("intent:"))
            for key in sorted(self.named())
            if key.startswith("intent:")
        ]
        return Chart((*self.special(), *places, *turned), self.marked())

    def special(self) -> Iterator[Place]:
        """The places that are no states, where arrows begin there."""
        if any(start == START for start, _ in self.moves):
            yield Place(START, Kind.START, self._intent)
        if any(start == ANYWHERE for start, _ in self.moves):
            yield Place(ANYWHERE, Kind.ANYWHERE, self._intent)

    def named(self) -> set[str]:
        """The keys at either end of an arrow that stand for states and intents."""
        return {key for ends in self.moves for key in ends} - {START, ANYWHERE}

    def marked(self) -> tuple[Move, ...]:
        """The arrows; those that go round, and those that the state graph forbids, say so."""
        allowed = graph.edges(self._snapshot, self._intent)
        round_trips = _round_trips(self.moves)
        for ends, move in self.moves.items():
            marks = [Mark.ROUND] if ends in round_trips else []
            start, end = (key.removeprefix("state:") for key in ends)
            between_states = all(key.startswith("state:") for key in ends)
            if between_states and allowed and not graph.allows(allowed, start, end):
                marks.append(Mark.FORBIDDEN)
            move.marks = tuple(marks)
        return tuple(self.moves.values())

    def _rules(self, states: Iterable[str]) -> Iterator[rows.Rule]:
        yield from of_intent(self._snapshot, rows.Rule, self._intent)
        if self._intent != ANY:
            for rule in of_intent(self._snapshot, rows.Rule, ANY):
                if code(demands(rule).get("@.state", rule.state_code)) in states:
                    yield rule

    def _rule(self, rule: rows.Rule, states: Iterable[str]) -> None:
        if not moves(rule):
            return
        start = code(demands(rule).get("@.state", rule.state_code))
        end, value = (_state_key if moves(rule, RuleAction.SET_STATE) else _intent_key), code(rule.action_value)
        if value and value != start:
            self.move(ANYWHERE if start == ANY else _state_key(start), end(value), rule)

    def _reaches(self, state: str) -> bool:
        return reaches(self._snapshot, self._intent, state)

    def _place(self, state: str, silent: set[str]) -> Place:
        key = _state_key(state)
        marks = []
        if not self._reaches(state):
            marks.append(Mark.UNREACHABLE)
        if state in silent:
            marks.append(Mark.NO_ANSWER)
        if not any(start == key and end != key for start, end in self.moves):
            marks.append(Mark.ENDS)
        return Place(key, Kind.STATE, self._intent, state, tuple(self._there(state)), tuple(marks))

    def _there(self, state: str) -> Iterator[Row]:
        """The rows that hold in just this state of the intent: answers, actions, prompts, schemas, tools."""
        for row_type in _THERE:
            yield from (
                row for row in of_intent(self._snapshot, row_type, self._intent) if code(row.state_code) == state
            )


def _state_key(state: str | None) -> str:
    return f"state:{code(state)}"


def _intent_key(intent: str | None) -> str:
    return f"intent:{code(intent)}"


def _stays(state: str | None) -> str:
    """A phrase whose state is ANY leaves a conversation where it is; one that begins is in UNKNOWN."""
    return UNKNOWN if code(state) in ("", ANY) else code(state)


def _round_trips(ends: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The arrows from whose end their beginning can be reached."""
    onward: dict[str, set[str]] = {}
    for start, end in ends:
        onward.setdefault(start, set()).add(end)
    found = {}
    for key in onward:
        waiting, seen = [key], set()
        while waiting:
            for after in onward.get(waiting.pop(), ()):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        found[key] = seen
    return {(start, end) for start, end in ends if start in found.get(end, ())}
