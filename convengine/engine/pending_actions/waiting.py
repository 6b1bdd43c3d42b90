"""Does the dialogue wait for a yes, or for a value?"""

from convengine.engine.forms.status import is_meaningful
from convengine.engine.pending_actions import record
from convengine.engine.pending_actions.choice import Scope, build_action, list_pending_rows
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_IN_CONTEXT = ("pending_action", "pendingAction")
_IN_PARAMS = ("pending_action", "pendingAction", "pending_action_key", "pending_action_task")


def waits_for_action(session: Session, turn: Turn) -> bool:
    """True when an action is proposed: by the context, by the request, by a rule, or by a row in scope."""
    return (
        any(is_meaningful(session.context.get(name)) for name in _IN_CONTEXT)
        or any(is_meaningful(session.input_params.get(name)) for name in _IN_PARAMS)
        or is_proposed_by_table(session, turn)
    )


def waits_for_slot(session: Session) -> bool:
    """True when a rule or an integrator asked for one value (R69, R97)."""
    return any(is_meaningful(session.context.get(name)) for name in ("pending_slot", "pendingSlot"))


def is_proposed_by_table(session: Session, turn: Turn) -> bool:
    """True when a row in scope is not done yet."""
    scope = Scope.of(session)
    if not scope.resolved:
        return False
    current = record.read_record(session)
    done = current if current and current.scope == str(scope) else None
    proposed = (build_action(row) for row in list_pending_rows(turn.snapshot, scope))
    return any(not (done and action and done.settles(action)) for action in proposed)
