"""Which moves the state graph allows, also those that a model writes into its answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import boolean, declare, one_of
from convengine.engine.turn.scope import ANY, intent_key
from convengine.engine.turn.session import Session, Transition
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

GRAPH_FAMILY = "StateGraphStep"

STATE_GRAPH_ENABLED = declare(
    GRAPH_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Check the moves between states against the state graph.",
    label="Check state changes",
)
ON_VIOLATION = declare(
    GRAPH_FAMILY,
    "ON_VIOLATION",
    one_of("AUDIT_ONLY", "SOFT_BLOCK", "REVERT"),
    "AUDIT_ONLY",
    (
        "What happens to a move that the graph does not allow: it is recorded (AUDIT_ONLY), also flagged for "
        "answers and rules (SOFT_BLOCK), or reverted to the intent and state at the start of the turn (REVERT)."
    ),
    label="If a state change is not allowed",
)

ALLOW_LLM_STATE_OVERRIDE = declare(
    "ResponseResolutionStep",
    "ALLOW_LLM_STATE_OVERRIDE",
    boolean(),
    False,
    "Let “intent” and “state” in a JSON answer written by the model change the conversation's.",
    mark="LR",
    label="The model's answer may set intent and state",
)

RESPONSE_STATE_OVERRIDE = declare_stage(
    "RESPONSE_STATE_OVERRIDE",
    Family.RESPONSE,
    "The answer was chosen for another state than the conversation is in.",
    steps="ResponseResolutionStep",
    keys="fromIntent fromState toIntent toState applied reason",
    sentences=(
        SentenceTemplate(
            "The model's answer changed the intent to {toIntent} and the state to {toState}.", {"applied": True}
        ),
        SentenceTemplate(
            "The model's answer asked for intent {toIntent} and state {toState}, which was rejected[: {reason}].",
            tone=Tone.WARNING,
        ),
    ),
)

#: A graph describes the moves of one intent: moves of these causes are recorded and not checked.
_UNCHECKED = frozenset({"RESET", "INTENT_RESOLUTION"})
UNKNOWN_INTENT = "UNKNOWN_INTENT"
UNKNOWN_STATE = "UNKNOWN_STATE"


@dataclass(frozen=True)
class Hop:
    """One move of the turn, and whether the graph allows it."""

    from_state: str
    to_state: str
    intent: str
    cause: str
    checked: bool
    allowed: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "from": self.from_state,
            "to": self.to_state,
            "intent": self.intent,
            "cause": self.cause,
            "checked": self.checked,
            "allowed": self.allowed,
        }


@dataclass(frozen=True)
class GraphVerdict:
    """All hops of a turn, in order."""

    path: tuple[Hop, ...]

    @property
    def checked(self) -> bool:
        return any(hop.checked for hop in self.path)

    @property
    def first_violation(self) -> Hop | None:
        return next((hop for hop in self.path if not hop.allowed), None)


def judge_moves(session: Session, snapshot: Snapshot) -> GraphVerdict:
    """Check the changes of intent and state in this turn, hop by hop, against the edges of each hop's intent."""
    hops = []
    for move in _list_moves(session):
        before, intent = code(move.from_intent), code(move.to_intent)
        start, end = code(move.from_state), code(move.to_state)
        if (before, start) != (intent, end):
            within = before == intent and move.cause not in _UNCHECKED and "" not in (start, end)
            is_fine = not within or is_allowed(snapshot, intent, start, end)
            hops.append(Hop(start, end, intent, move.cause, within, is_fine))
    return GraphVerdict(tuple(hops))


def _list_moves(session: Session) -> Iterator[Transition]:
    """The recorded transitions since the last reset; an unrecorded change between them is a hop of its own."""
    resets = [index for index, move in enumerate(session.transitions) if move.cause == "RESET"]
    position: tuple[str | None, str | None] = (session.turn_start_intent, session.turn_start_state)
    for move in session.transitions[resets[-1] + 1 if resets else 0 :]:
        yield Transition(*position, move.from_intent, move.from_state, "UNRECORDED")
        yield move
        position = (move.to_intent, move.to_state)
    yield Transition(*position, session.intent, session.state, "UNRECORDED")


def is_allowed(snapshot: Snapshot, intent: str, start: str, end: str) -> bool:
    """True when an edge of the intent leads from one state to the other, or the intent has no edges."""
    by_intent = snapshot.index(rows.StateEdge, intent_key, _order_key)
    codes = [name for name in dict.fromkeys((intent, ANY)) if snapshot.is_active(name)]
    edges = [edge for name in codes for edge in by_intent.get(name, ())]
    return not edges or any(
        code(edge.from_state) in (start, ANY) and code(edge.to_state) in (end, ANY) for edge in edges
    )


def _order_key(edge: rows.StateEdge) -> tuple[int, int]:
    return edge.priority, edge.edge_id


def apply_override(session: Session, turn: Turn, document: Json) -> Session:
    """The session with the document's `intent` and `state`, with RESPONSE_STATE_OVERRIDE; else unchanged.

    Nothing happens while ALLOW_LLM_STATE_OVERRIDE is off.
    """
    if not isinstance(document, Mapping) or not turn.config(session, ALLOW_LLM_STATE_OVERRIDE):
        return session
    intent, state = (
        _read_code(document, name) or code(current)
        for name, current in (("intent", session.intent), ("state", session.state))
    )
    if (intent, state) == (code(session.intent), code(session.state)):
        return session
    reason = _find_refusal(session, turn, intent, state)
    after = session if reason else session.move_to(intent=intent, state=state, cause="MODEL")
    turn.audit(
        after,
        RESPONSE_STATE_OVERRIDE,
        fromIntent=session.intent,
        fromState=session.state,
        toIntent=intent,
        toState=state,
        applied=reason is None,
        **({"reason": reason} if reason else {}),
    )
    return after


def _read_code(document: Mapping[str, Json], name: str) -> str:
    value = document.get(name)
    return code(value) if isinstance(value, str) else ""


def _find_refusal(session: Session, turn: Turn, intent: str, state: str) -> str | None:
    """Why the model's move is refused. Returns None if there is none."""
    snapshot, start = turn.snapshot, code(session.state)
    changed = intent != code(session.intent)
    if changed and (intent == ANY or snapshot.row(rows.Intent, intent) is None or not snapshot.is_active(intent)):
        return UNKNOWN_INTENT
    if state != start and state not in snapshot.known_states:
        return UNKNOWN_STATE
    checked = not changed and turn.config(session, STATE_GRAPH_ENABLED)
    return f"NO_EDGE:{start}->{state}" if checked and not is_allowed(snapshot, intent, start, state) else None
