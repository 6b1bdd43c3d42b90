"""ActionLifecycleStep keeps the runtime record of the pending action; DisambiguationStep asks which one is meant."""

from convengine.engine.forms.form import is_meaningful
from convengine.engine.pending_actions import choice, record
from convengine.engine.pending_actions.choice import ActionScope, ProposedAction
from convengine.engine.pending_actions.disambiguation import (
    SOURCE,
    ask_which_action,
    audit_lifecycle,
    drop_question,
    drop_record_of_other_scope,
    may_ask_which_action,
)
from convengine.engine.pending_actions.record import LIVE, Moment, Record
from convengine.engine.pending_actions.settings import ACTION_LIFECYCLE_ENABLED, TTL_MINUTES, TTL_TURNS
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ActionStatus, PolicyDecision
from convengine.engine.turn.owned_params import ActionParams, RoutingParams
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: Session fields that these functions change.
LIFECYCLE_FIELDS = frozenset({"action", "routing", "params", "context", "clarification"})
#: Context keys in which tasks and integrators propose an action.
_PROPOSALS = ("pending_action", "pendingAction", "pending_action_key", "pendingActionKey")
#: Statuses after which a later turn opens the action again.
_REOPENED = frozenset({ActionStatus.EXPIRED, ActionStatus.FAILED})


class ActionLifecycleStep(Step):
    """Open, confirm, reject or expire the pending action, with limits in turns and minutes."""

    after = ("CorrectionStep",)
    rank = 1000
    requires_persisted = True
    writes = LIFECYCLE_FIELDS

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        if not turn.config(session, ACTION_LIFECYCLE_ENABLED):
            return "records of actions are switched off"
        is_named = any(is_meaningful(session.context.get(name)) for name in (record.RECORD, *_PROPOSALS))
        return None if is_named or turn.snapshot.rows(rows.PendingAction) else "there are no actions"

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Update the record for this turn."""
        return Continue(advance_record(session, turn))


def advance_record(session: Session, turn: Turn) -> Session:
    """Update the record for this turn: leave, expire, open, then apply the decision."""
    session = drop_record_of_other_scope(session, turn)
    current = record.read_record(session)
    if current and current.status in LIVE and current.is_expired(_now(session, turn)):
        return _expire_record(session, turn, current)
    if current and current.status is ActionStatus.IN_PROGRESS:
        # From an earlier turn that did not finish.
        session = _store_record(
            session, turn, current.with_status(ActionStatus.OPEN, _now(session, turn)), "INTERRUPTED"
        )
    action_choice = choice.choose_action(session, turn, ActionScope.of(session))
    choice.audit_choice(session, turn, action_choice)
    if action_choice.action:
        return _apply_decision(_ensure_record(session, turn, action_choice.action), turn, action_choice.action)
    current = record.read_record(session)
    return record.store_record(session, current) if current else session


def find_runnable_record(session: Session, turn: Turn, action: ProposedAction) -> Record | None:
    """The record under which an action may run or be rejected now. Returns None without a record of it.

    If the lifecycle is off, there is always one, without limits.
    """
    current = record.read_record(session)
    if turn.config(session, ACTION_LIFECYCLE_ENABLED):
        return current if current and current.is_for(action) else None
    if current and current.scope != str(ActionScope.of(session)):
        current = None
    if current and current.settles(action):
        return current
    fresh = record.open_record(session, action, _now(session, turn), (0, 0), current)
    return fresh.with_status(ActionStatus.IN_PROGRESS, _now(session, turn))


def reopen_action(session: Session, turn: Turn) -> Session:
    """Reopen an action that was confirmed in this turn but will not run."""
    current = record.read_record(session)
    if current is None or current.status is not ActionStatus.IN_PROGRESS:
        return session
    return _store_record(session, turn, current.with_status(ActionStatus.OPEN, _now(session, turn)), "REVERTED")


def close_record(session: Session, turn: Turn, current: Record, status: ActionStatus) -> Session:
    """The session after an action was executed, rejected or failed (`status`), without the action's data.

    A failed one keeps its key, so that another yes means the same action, but not its approval.
    """
    if current.status is not status:
        session = record.end_record(record.store_record(session, current.with_status(status, _now(session, turn))))
    else:
        session = record.store_record(session, current)
    return session.without_context("approval") if status is ActionStatus.FAILED else clear_proposal(session)


def _expire_record(session: Session, turn: Turn, current: Record) -> Session:
    """Let the record expire. A late yes runs nothing; it is handled like any other message."""
    late = session.routing.policy_decision == PolicyDecision.EXECUTE_PENDING_ACTION
    expired = current.with_status(ActionStatus.EXPIRED, _now(session, turn))
    session = record.end_record(record.store_record(clear_proposal(session), expired))
    if late:
        session = _reclassify_message(session).with_values(
            ActionParams(skip_pending_action_execution=True, pending_action_result=ActionStatus.EXPIRED.value)
        )
    audit_lifecycle(session, turn, expired, "EXPIRED", {"turn": session.turn_no})
    return session


def _ensure_record(session: Session, turn: Turn, action: ProposedAction) -> Session:
    """The session with a record of the action: the existing one, or a new one if that does not count any more."""
    current = record.read_record(session)
    if current and current.settles(action):
        # The action opens again only if the message names it, because its key was removed when it ended.
        counts = not session.params.get("pending_action_key")
    else:
        counts = current is not None and current.is_for(action) and current.status not in _REOPENED
    if counts:
        return session
    ttl = turn.config(session, TTL_TURNS), turn.config(session, TTL_MINUTES)
    return _store_record(session, turn, record.open_record(session, action, _now(session, turn), ttl, current), "OPEN")


def _apply_decision(session: Session, turn: Turn, action: ProposedAction) -> Session:
    """Apply the decision of the turn to the record.

    A yes that confirms no open action is handled like any other message.
    """
    current = record.read_record(session)
    decision = PolicyDecision.read(session.routing.policy_decision)
    if current is None:
        return session
    is_open = current.status is ActionStatus.OPEN and current.is_for(action)
    if is_open and decision is PolicyDecision.EXECUTE_PENDING_ACTION:
        confirmed = current.with_status(ActionStatus.IN_PROGRESS, _now(session, turn))
        return _store_record(session, turn, confirmed, "IN_PROGRESS")
    if is_open and decision is PolicyDecision.REJECT_PENDING_ACTION:
        rejected = current.with_status(ActionStatus.REJECTED, _now(session, turn))
        return record.end_record(_store_record(session, turn, rejected, "REJECTED"))
    if decision is PolicyDecision.EXECUTE_PENDING_ACTION:
        session = _reclassify_message(session)
    return record.store_record(session, current)


def _reclassify_message(session: Session) -> Session:
    return session.with_values(
        RoutingParams(policy_decision=PolicyDecision.RECLASSIFY_INTENT.value, skip_intent_resolution=False)
    )


def clear_proposal(session: Session) -> Session:
    """Remove the proposal of an ended action, its approval, and the question about it."""
    return drop_question(session.without_context(*_PROPOSALS, "approval").without_params("pending_action_key"))


def _store_record(session: Session, turn: Turn, current: Record, event: str) -> Session:
    session = record.store_record(session, current)
    audit_lifecycle(session, turn, current, event)
    return session


def _now(session: Session, turn: Turn) -> Moment:
    return Moment.of(session.turn_no, turn.ports.clock.now())


class DisambiguationStep(Step):
    """Ask which action is meant; the question is the answer of the turn, the next message its reply."""

    after = ("ActionLifecycleStep",)
    rank = 1100
    requires_persisted = True
    writes = LIFECYCLE_FIELDS | {"reply_override"}

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        return None if may_ask_which_action(session) else "no action was confirmed, and no question is open"

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Ask. An action that was confirmed meanwhile is open again."""
        session = ask_which_action(session, turn)
        asks_user = session.reply_override is not None and session.reply_override.source == SOURCE
        return Continue(reopen_action(session, turn) if asks_user else session)
