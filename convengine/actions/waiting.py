"""Does the dialogue wait for a yes, or for a value? The facts of pipeline-1 9.1."""

from convengine.actions import record
from convengine.actions.choice import Scope, action_of, pending_rows
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.schemas.status import meaningful

_IN_CONTEXT = ("pending_action", "pendingAction")
_IN_PARAMS = ("pending_action", "pendingAction", "pending_action_key", "pending_action_task")


def waits_for_action(session: Session, turn: Turn) -> bool:
    """True when something is proposed: by the context, by the request or a rule, or by a row that fits here."""
    return (
        any(meaningful(session.context.get(name)) for name in _IN_CONTEXT)
        or any(meaningful(session.input_params.get(name)) for name in _IN_PARAMS)
        or proposed_by_table(session, turn)
    )


def waits_for_slot(session: Session) -> bool:
    """True when a rule or an integrator asked for one value (R69, R97)."""
    return any(meaningful(session.context.get(name)) for name in ("pending_slot", "pendingSlot"))


def proposed_by_table(session: Session, turn: Turn) -> bool:
    """A row fits the intent and state, and is not done with there (fix W-27)."""
    scope = Scope.of(session)
    if not scope.resolved:
        return False
    found = record.read(session)
    done = found if found and found.scope == str(scope) else None
    proposed = (action_of(row) for row in pending_rows(turn.snapshot, scope))
    return any(not (done and action and done.settles(action)) for action in proposed)
