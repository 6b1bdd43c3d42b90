"""The lifecycle of a session: its allowed moves, and how a message with a new task ends it and begins the next."""

import uuid
from collections.abc import Mapping
from types import MappingProxyType

from convengine.engine.errors import SessionTransitionInvalid
from convengine.engine.memory.summary import set_recall
from convengine.engine.text.compare import blank
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.reset import RESET_FIELDS
from convengine.engine.turn.session import KNOWLEDGE_BASE, Right, Session, Transition
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

RUNNING, AWAITING_USER, INTERRUPTED, PENDING_COMPLETE, COMPLETE, ABORTED = Lifecycle
#: All allowed moves; a closed session has none.
MOVES: Mapping[Lifecycle, frozenset[Lifecycle]] = {
    RUNNING: frozenset({AWAITING_USER, INTERRUPTED, PENDING_COMPLETE, COMPLETE, ABORTED}),
    AWAITING_USER: frozenset({RUNNING, COMPLETE, ABORTED}),
    INTERRUPTED: frozenset({RUNNING, ABORTED}),
    PENDING_COMPLETE: frozenset({RUNNING, COMPLETE, ABORTED}),
    COMPLETE: frozenset(),
    ABORTED: frozenset(),
}
CLOSED = frozenset({COMPLETE, ABORTED})
#: The reason of a move that a message with a new task causes.
NEW_TASK = "new_task"
#: Session fields that change when a turn goes on in a new session.
NEW_TASK_FIELDS = RESET_FIELDS | {
    "conversation_id", "turn_no", "version", "lifecycle", "lifecycle_detail", "preferences", "mounted_kb_id",
}  # fmt: skip
#: The right to go on in a new session.
BEGIN_TASK = Right(NEW_TASK_FIELDS, lambda before, after: before.conversation_id != after.conversation_id)
#: What the turn learned from the message and keeps.
_KEPT = ("intent", "state", "intent_source", "interaction_decision", "standalone_query", "query_rewritten")
_NAMESPACE = uuid.UUID("2ab1b1de-5f0e-4b53-8d6c-6a1e7d4fd0c9")


def check_move(start: str, end: str) -> None:
    """Raises SessionTransitionInvalid for a move that is not allowed."""
    if Lifecycle(end) not in MOVES[Lifecycle(start)]:
        allowed = ", ".join(sorted(MOVES[Lifecycle(start)])) or "nowhere: it is closed"
        raise SessionTransitionInvalid(f"A session that is {start} cannot become {end}. Allowed: {allowed}.")


def find_moves(start: str, end: str) -> tuple[Lifecycle, ...]:
    """The moves between two lifecycles: one, two through RUNNING, or none if they are equal.

    Raises SessionTransitionInvalid.
    """
    source, target = Lifecycle(start), Lifecycle(end)
    if source is target:
        return ()
    if target not in MOVES[source] and RUNNING in MOVES[source] and target in MOVES[RUNNING]:
        return RUNNING, target
    check_move(source, target)
    return (target,)


def move_lifecycle(
    session: Session, turn: Turn, end: Lifecycle, reason: str, detail: Mapping[str, Json] = MappingProxyType({})
) -> Session:
    """The session after the move, with a SESSION_LIFECYCLE event. Raises SessionTransitionInvalid."""
    check_move(session.lifecycle, end)
    return step_lifecycle(session, turn, end, reason, detail)


def step_lifecycle(
    session: Session, turn: Turn, end: Lifecycle, reason: str, detail: Mapping[str, Json] = MappingProxyType({})
) -> Session:
    """Change the lifecycle without checking the table of transitions."""
    after = session.evolve(lifecycle=end.value, lifecycle_detail=dict(detail))
    turn.audit(after, SESSION_LIFECYCLE, **build_event(session.lifecycle, end, reason, session.turn_no))
    return after


def build_event(start: str, end: str, reason: str, turn_no: int | None) -> dict[str, Json]:
    return {"from": str(start), "to": str(end), "reason": reason, "turn_no": turn_no}


def ensure_running(session: Session, turn: Turn, reason: str) -> Session:
    return session if session.lifecycle == RUNNING else move_lifecycle(session, turn, RUNNING, reason)


def begin_new_task(session: Session, turn: Turn) -> Session:
    """The initial session of a new task, in which the turn goes on as number 1 with its text, act, intent and state.

    Params of this turn and of the caller stay; the old session's memory does not, but a summary of its context goes
    into the recall. The old session becomes COMPLETE in the same commit.
    """
    detail = {"reason": NEW_TASK, "at": turn.ports.clock.now().isoformat()}
    turn.previous_session = move_lifecycle(ensure_running(session, turn, NEW_TASK), turn, COMPLETE, NEW_TASK, detail)
    stored = turn.ports.conversations.load().conversation.input_params_json
    before = {*(stored if isinstance(stored, dict) else ()), "previousTurn", "memory_recall"}
    sent, params = session.user_input_params, session.input_params.items()
    # This turn stores version 0 of the new session: no later turn may have its version.
    blank_session = Session(str(uuid.uuid5(_NAMESPACE, turn.turn_id)), version=-1)
    fresh = session.evolve(**{name: getattr(blank_session, name) for name in NEW_TASK_FIELDS})
    wanted = turn.request.preferences
    hop = Transition(None, None, session.intent, session.state, "INTENT_RESOLUTION")
    fresh = fresh.evolve(
        **{name: getattr(session, name) for name in _KEPT},
        transitions=(hop,),
        # The preferences of this message; those of the old session stay there.
        preferences=dict(wanted),
        mounted_kb_id=wanted.get(KNOWLEDGE_BASE),
    ).with_only_params({key: value for key, value in params if key in sent or key not in before})
    return fresh if blank(session.context_summary) else set_recall(fresh, session.context_summary)
