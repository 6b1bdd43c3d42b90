"""Where a session stands, and where it may go from there (sessions 2)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from convengine.domain.enums import Lifecycle
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.errors import SessionTransitionInvalid

Json = Any
RUNNING, AWAITING_USER, INTERRUPTED, PENDING_COMPLETE, COMPLETE, ABORTED = Lifecycle
#: Every move that there is; a closed session moves no more.
MOVES: Mapping[Lifecycle, frozenset[Lifecycle]] = {
    RUNNING: frozenset({AWAITING_USER, INTERRUPTED, PENDING_COMPLETE, COMPLETE, ABORTED}),
    AWAITING_USER: frozenset({RUNNING, COMPLETE, ABORTED}),
    INTERRUPTED: frozenset({RUNNING, ABORTED}),
    PENDING_COMPLETE: frozenset({RUNNING, COMPLETE, ABORTED}),
    COMPLETE: frozenset(),
    ABORTED: frozenset(),
}
CLOSED = frozenset({COMPLETE, ABORTED})


def check(start: str, end: str) -> None:
    """Raises SessionTransitionInvalid for a move that there is not."""
    if Lifecycle(end) not in MOVES[Lifecycle(start)]:
        allowed = ", ".join(sorted(MOVES[Lifecycle(start)])) or "nowhere: it is closed"
        raise SessionTransitionInvalid(f"A session that is {start} cannot become {end}; it can go to {allowed}.")


def way(start: str, end: str) -> tuple[Lifecycle, ...]:
    """The moves from one state to another: one, or two by way of RUNNING; none when it is there already.

    Raises SessionTransitionInvalid.
    """
    here, there = Lifecycle(start), Lifecycle(end)
    if here is there:
        return ()
    if there not in MOVES[here] and RUNNING in MOVES[here] and there in MOVES[RUNNING]:
        return RUNNING, there
    check(here, there)
    return (there,)


def moved(
    session: Session, turn: Turn, end: Lifecycle, reason: str, detail: Mapping[str, Json] = MappingProxyType({})
) -> Session:
    """The session after the move, with SESSION_LIFECYCLE in the trail. Raises SessionTransitionInvalid."""
    check(session.lifecycle, end)
    return stepped(session, turn, end, reason, detail)


def stepped(
    session: Session, turn: Turn, end: Lifecycle, reason: str, detail: Mapping[str, Json] = MappingProxyType({})
) -> Session:
    """The same without looking at the table: for what a ruling moves beside it (R29, R39)."""
    after = session.evolve(lifecycle=end.value, lifecycle_detail=dict(detail))
    turn.audit(after, Stage.SESSION_LIFECYCLE, **event(session.lifecycle, end, reason, turn.turn_no))
    return after


def event(start: str, end: str, reason: str, turn_no: int | None) -> dict[str, Json]:
    """The payload of SESSION_LIFECYCLE."""
    return {"from": str(start), "to": str(end), "reason": reason, "turn_no": turn_no}


def running(session: Session, turn: Turn, reason: str) -> Session:
    """The session RUNNING, moved there unless it is."""
    return session if session.lifecycle == RUNNING else moved(session, turn, RUNNING, reason)
