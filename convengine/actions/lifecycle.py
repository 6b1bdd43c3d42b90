"""The life of a pending action: opened, confirmed, rejected, expired, left behind (pipeline-1 11)."""

from collections.abc import Mapping
from typing import Any

from convengine.actions import choice, record
from convengine.actions.choice import Action, Scope
from convengine.actions.question import REASON
from convengine.actions.record import LIVE, Moment, Record
from convengine.domain.catalogue.interaction import ACTION_LIFECYCLE_ENABLED, TTL_MINUTES, TTL_TURNS
from convengine.domain.enums import ActionStatus, PolicyDecision
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn

#: Session fields that these functions change.
LIFECYCLE_FIELDS = frozenset({"context", "input_params", "clarification"})
#: Context keys by which tasks and integrators propose an action.
_PROPOSALS = ("pending_action", "pendingAction", "pending_action_key", "pendingActionKey")
#: Statuses that a later turn opens anew (R82).
_REOPENED = frozenset({ActionStatus.EXPIRED, ActionStatus.FAILED})


def advance(session: Session, turn: Turn) -> Session:
    """Bring the record up to this turn: leave, expire, open, then what the decision asks for."""
    if not turn.config(session, ACTION_LIFECYCLE_ENABLED):
        return session
    session = _left_behind(session, turn)
    found = record.read(session)
    if found and found.status in LIVE and found.expired_at(_now(turn)):
        return _expired(session, turn, found)
    if found and found.status is ActionStatus.IN_PROGRESS:
        # Of an earlier turn, which did not get to its end.
        session = _put(session, turn, found.moved(ActionStatus.OPEN, _now(turn)), "INTERRUPTED")
    chosen = choice.choose(session, turn, Scope.of(session))
    choice.tell(session, turn, chosen)
    if chosen.action:
        return _decided(_opened(session, turn, chosen.action), turn, chosen.action)
    found = record.read(session)
    return record.written(session, found) if found else session


def begun(session: Session, turn: Turn, action: Action) -> Record | None:
    """The record under which an action may run or be rejected now; with the lifecycle off, one without limits."""
    found = record.read(session)
    if turn.config(session, ACTION_LIFECYCLE_ENABLED):
        return found if found and found.is_for(action) else None
    if found and found.scope != str(Scope.of(session)):
        found = None
    if found and found.settles(action):
        return found
    fresh = record.opened(session, action, _now(turn), (0, 0), found)
    return fresh.moved(ActionStatus.IN_PROGRESS, _now(turn))


def reverted(session: Session, turn: Turn) -> Session:
    """The session with an action that was confirmed in this turn, and will not run, open again."""
    found = record.read(session)
    if found is None or found.status is not ActionStatus.IN_PROGRESS:
        return session
    return _put(session, turn, found.moved(ActionStatus.OPEN, _now(turn)), "REVERTED")


def concluded(session: Session, turn: Turn, found: Record, status: ActionStatus) -> Session:
    """The session after an action was executed, rejected, or failed. What was kept for it goes with it.

    A failed one keeps its key, so that a further yes means the same action (R82), but not its approval.
    """
    if found.status is not status:
        session = record.ended(record.written(session, found.moved(status, _now(turn))))
    else:
        session = record.written(session, found)
    return session.without_context("approval") if status is ActionStatus.FAILED else cleaned(session)


def _left_behind(session: Session, turn: Turn) -> Session:
    """Without the record of another intent or state."""
    found = record.read(session)
    if found is None or found.scope == str(Scope.of(session)):
        return session
    if found.status in LIVE:
        session = record.ended(session)
    session = _without_question(session.without_context(record.RECORD))
    kept = session.input_params.get("pending_action_key")
    if code(str(kept)) == code(found.action_key) and "pending_action_key" not in session.user_input_params:
        session = session.without_params("pending_action_key")
    _tell(session, turn, found, "SCOPE_LEFT")
    return session


def _expired(session: Session, turn: Turn, found: Record) -> Session:
    """A yes that comes too late runs nothing (fix W-34); it is looked at as any other message."""
    late = session.input_params.get("policy_decision") == PolicyDecision.EXECUTE_PENDING_ACTION
    expired = found.moved(ActionStatus.EXPIRED, _now(turn))
    session = record.ended(record.written(cleaned(session), expired))
    if late:
        session = _not_executed(session).with_params(
            {"skip_pending_action_execution": True, "pending_action_result": ActionStatus.EXPIRED.value}
        )
    _tell(session, turn, expired, "EXPIRED", {"turn": turn.turn_no})
    return session


def _opened(session: Session, turn: Turn, action: Action) -> Session:
    """With a record of the action: the one there is, or a new one where there is none that still counts."""
    found = record.read(session)
    if found and not _to_be_opened(session, found, action):
        return session
    ttl = turn.config(session, TTL_TURNS), turn.config(session, TTL_MINUTES)
    return _put(session, turn, record.opened(session, action, _now(turn), ttl, found), "OPEN")


def _to_be_opened(session: Session, found: Record, action: Action) -> bool:
    if found.settles(action):
        # Only who names the action again, in so many words, wants it again: its key went when it ended.
        return bool(session.input_params.get("pending_action_key"))
    return not found.is_for(action) or found.status in _REOPENED


def _decided(session: Session, turn: Turn, action: Action) -> Session:
    """What the decision of the turn makes of the record."""
    found = record.read(session)
    decision = PolicyDecision.read(session.input_params.get("policy_decision"))
    if found is None:
        return session
    if found.status is ActionStatus.OPEN and decision is PolicyDecision.EXECUTE_PENDING_ACTION and found.is_for(action):
        return _put(session, turn, found.moved(ActionStatus.IN_PROGRESS, _now(turn)), "IN_PROGRESS")
    if found.status is ActionStatus.OPEN and decision is PolicyDecision.REJECT_PENDING_ACTION and found.is_for(action):
        return record.ended(_put(session, turn, found.moved(ActionStatus.REJECTED, _now(turn)), "REJECTED"))
    if decision is PolicyDecision.EXECUTE_PENDING_ACTION:
        session = _not_executed(session)
    return record.written(session, found)


def _not_executed(session: Session) -> Session:
    return session.with_params(
        {"policy_decision": PolicyDecision.RECLASSIFY_INTENT.value, "skip_intent_resolution": False}
    )


def cleaned(session: Session) -> Session:
    """Without what proposed an action that has ended, its approval, and the question about it (settings 6, R37)."""
    return _without_question(session.without_context(*_PROPOSALS, "approval").without_params("pending_action_key"))


def _without_question(session: Session) -> Session:
    asked = session.clarification
    return session.evolve(clarification=None) if asked and asked.reason == REASON else session


def _put(session: Session, turn: Turn, found: Record, event: str) -> Session:
    session = record.written(session, found)
    _tell(session, turn, found, event)
    return session


def _tell(session: Session, turn: Turn, found: Record, event: str, more: Mapping[str, Any] | None = None) -> None:
    turn.audit(
        session,
        Stage.PENDING_ACTION_LIFECYCLE,
        event=event,
        status=found.status.value,
        actionKey=found.action_key,
        actionRef=found.action_ref,
        **(more or {}),
    )


def _now(turn: Turn) -> Moment:
    return Moment.of(turn.turn_no, turn.ports.clock.now())
