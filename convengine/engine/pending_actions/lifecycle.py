"""The end of an action whose scope was left, and the events of an action's life."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.pending_actions import record
from convengine.engine.pending_actions.choice import Scope
from convengine.engine.pending_actions.disambiguation import REASON
from convengine.engine.pending_actions.record import LIVE, Record
from convengine.engine.pending_actions.stages import PENDING_ACTION_LIFECYCLE
from convengine.engine.text.compare import code
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def drop_record_of_other_scope(session: Session, turn: Turn) -> Session:
    """Remove the record of another intent or state."""
    current = record.read_record(session)
    if current is None or current.scope == str(Scope.of(session)):
        return session
    if current.status in LIVE:
        session = record.end_record(session)
    session = drop_question(session.without_context(record.RECORD))
    proposed_key = session.params.get("pending_action_key")
    if code(str(proposed_key)) == code(current.action_key) and "pending_action_key" not in session.user_input_params:
        session = session.without_params("pending_action_key")
    audit_lifecycle(session, turn, current, "SCOPE_LEFT")
    return session


def drop_question(session: Session) -> Session:
    """The session without the question which action is meant."""
    question = session.clarification
    return session.evolve(clarification=None) if question and question.reason == REASON else session


def audit_lifecycle(
    session: Session, turn: Turn, current: Record, event: str, more: Mapping[str, Any] | None = None
) -> None:
    """Write PENDING_ACTION_LIFECYCLE."""
    turn.audit(
        session,
        PENDING_ACTION_LIFECYCLE,
        event=event,
        status=current.status.value,
        actionKey=current.action_key,
        actionRef=current.action_ref,
        **(more or {}),
    )
