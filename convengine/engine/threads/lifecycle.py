"""The lifecycle of a session, and its allowed moves."""

from collections.abc import Mapping
from types import MappingProxyType

from convengine.engine.errors import SessionTransitionInvalid
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.session import Session
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
    """The payload of SESSION_LIFECYCLE."""
    return {"from": str(start), "to": str(end), "reason": reason, "turn_no": turn_no}


def ensure_running(session: Session, turn: Turn, reason: str) -> Session:
    return session if session.lifecycle == RUNNING else move_lifecycle(session, turn, RUNNING, reason)
