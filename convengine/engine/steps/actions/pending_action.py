"""PendingActionStep: run the action that the user confirmed, at most once, or drop the refused one."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from convengine.engine.pending_actions import choice, record
from convengine.engine.pending_actions.choice import ActionScope, ProposedAction
from convengine.engine.pending_actions.record import LIVE, ORDINAL, RECORD, Record
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES, ActionValueError
from convengine.engine.rules.actions.set_task import build_unknown_task_error, parse
from convengine.engine.rules.task_runs import (
    ALREADY_CLAIMED,
    ClaimedRun,
    TaskOutcome,
    TaskReference,
    run_claimed,
    run_methods,
)
from convengine.engine.steps.actions.action_lifecycle import (
    LIFECYCLE_FIELDS,
    clear_proposal,
    close_record,
    find_runnable_record,
)
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_REJECTED,
    PENDING_ACTION_SKIPPED,
)
from convengine.engine.text.compare import truthy
from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.engine.turn.enums import ActionStatus, PolicyDecision
from convengine.engine.turn.facts import audit_changed_facts
from convengine.engine.turn.live_settings import declare, integer
from convengine.engine.turn.owned_params import ActionParams
from convengine.engine.turn.ports import ExecutionClaim, TaskAnswer, TaskRun
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

ACTION_TIMEOUT_MS = declare(
    "PendingActionStep",
    "TIMEOUT_MS",
    integer(100, 300_000),
    10_000,
    "Timeout for the task of a confirmed action (milliseconds).",
    qualifier="action key",
    label="Timeout of a task (ms)",
)

_EXECUTE, _REJECT = PolicyDecision.EXECUTE_PENDING_ACTION, PolicyDecision.REJECT_PENDING_ACTION
_RECLASSIFY = PolicyDecision.RECLASSIFY_INTENT
#: Messages of some reasons.
_TEXTS = {
    "GUARDRAIL": "The guardrail blocks the action until it is approved.",
    "EXPIRED": "The action was no longer open when it was confirmed.",
    "RULE": "A rule blocks the action.",
    "AMBIGUOUS_OR_NO_KEY": "No action is named, and the rows of this intent and state leave none or several.",
    "NO_REFERENCE": "The named action has no row here with a task to run.",
    ALREADY_CLAIMED: "An earlier turn started the action, but its outcome is unknown. A person must check it.",
    "REPLY_OVERRIDE": "This turn is answered otherwise.",
}
INVALID_REFERENCE = "INVALID_REFERENCE"
NOT_REGISTERED = "NOT_REGISTERED"
#: Keys that a task may not write, because the engine writes them for it.
_ENGINE_KEYS = (RECORD, ORDINAL)


class PendingActionStep(Step):
    """Run each opened action at most once. A failed task is a result, not an error of the turn."""

    after = ("AutoAdvanceStep",)
    rank = 1900
    requires_persisted = True
    # A task may set any param.
    writes = LIFECYCLE_FIELDS | {"input_params"}

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        decided = {PolicyDecision.read(session.routing.policy_decision), session.interaction_decision}
        return None if decided & {_EXECUTE, _REJECT} else "nothing was confirmed or refused"

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Set `pending_action_result`, and the outcome in the record."""
        return Continue(conclude_action(session, turn))


def conclude_action(session: Session, turn: Turn) -> Session:
    """Run the confirmed action, or drop the refused one. A failed task never fails the turn."""
    decision = PolicyDecision.read(session.routing.policy_decision) or _RECLASSIFY
    confirmed = _EXECUTE in (decision, session.interaction_decision)
    # A refusal is never stopped, because it runs nothing.
    if decision is not _REJECT and confirmed and (reason := _find_hold_reason(session, decision)):
        return _skip_action(session, turn, _RECLASSIFY, record.read_record(session), reason)
    if decision not in (_EXECUTE, _REJECT):
        return session
    action_choice = choice.choose_action(session, turn, _find_decided_scope(session))
    choice.audit_choice(session, turn, action_choice)
    if action_choice.action is None:
        reason = "AMBIGUOUS_OR_NO_KEY" if action_choice.key is None else "NO_REFERENCE"
        return _skip_action(session, turn, decision, None, reason, actionKey=action_choice.key)
    current = find_runnable_record(session, turn, action_choice.action)
    if decision is _REJECT:
        return _reject_action(session, turn, action_choice.action, current)
    if current is None or current.status is not ActionStatus.IN_PROGRESS:
        status = current.status.value if current else "NONE"
        return _skip_action(
            session, turn, decision, current, f"RUNTIME_STATUS_{status}", actionKey=action_choice.action.key
        )
    return _execute_action(session, turn, action_choice.action, current)


def _find_hold_reason(session: Session, decision: PolicyDecision) -> str | None:
    """Why a yes runs nothing although an action was open. Returns None if it runs, or if that was recorded already."""
    action, current = session.action, record.read_record(session)
    if truthy(action.guardrail_blocked):
        return "GUARDRAIL"
    if action.pending_action_result == ActionStatus.EXPIRED:
        return "EXPIRED"
    if truthy(action.skip_pending_action_execution):
        return "RULE"
    if decision is _EXECUTE:
        return "REPLY_OVERRIDE" if session.reply_override or session.reset_only else None
    if truthy(action.pending_action_disambiguation_required):
        return None
    return f"RUNTIME_STATUS_{current.status.value}" if current and current.status in record.FINAL else "RULE"


def _find_decided_scope(session: Session) -> ActionScope:
    """The intent and state in which the user decided, even if a rule has moved the dialogue since."""
    current = record.read_record(session)
    if current and session.turn_no in (current.in_progress_turn, current.rejected_turn):
        intent, _, state = current.scope.partition("|")
        return ActionScope(intent, state)
    return ActionScope.of(session)


def _reject_action(session: Session, turn: Turn, action: ProposedAction, current: Record | None) -> Session:
    """Drop the refused action. One that has run already is not rejected."""
    if current and current.status is ActionStatus.EXECUTED:
        return _skip_action(session, turn, _REJECT, current, "RUNTIME_STATUS_EXECUTED", actionKey=action.key)
    if current and (current.status in LIVE or current.status is ActionStatus.REJECTED):
        session = close_record(session, turn, current, ActionStatus.REJECTED)
    else:
        # Nothing was open, or it expired in this turn: there is nothing to reject.
        session = clear_proposal(session)
    session = session.with_values(ActionParams(pending_action_result=ActionStatus.REJECTED.value))
    _audit(session, turn, PENDING_ACTION_REJECTED, _REJECT, action.reference)
    return session


def _execute_action(session: Session, turn: Turn, action: ProposedAction, current: Record) -> Session:
    """Run the action once, or say why it does not run."""
    started = turn.ports.clock.elapsed_ms()
    try:
        run = run_once(session, turn, action, current)
    except NotRunnable as error:
        now = turn.ports.clock.now().isoformat()
        outcome = TaskOutcome(ActionStatus.FAILED, (), (), now, error.reason, error.message)
        return _apply_outcome(session, turn, action, current, outcome, {})
    if run.outcome is None:
        # If it expired, another yes would open it again, and what may have run would run twice.
        session = record.store_record(session, current.with_unknown_end(run.execution.other_nonce or current.nonce))
        return _skip_action(session, turn, _EXECUTE, current, ALREADY_CLAIMED, actionKey=action.key)
    run_details = {
        "durationMs": int(turn.ports.clock.elapsed_ms() - started),
        "taskBean": run.reference.task,
        "taskMethods": ",".join(run.reference.methods) or run.reference.task,
        "executionId": run.execution.execution_id,
        **({} if run.execution.claimed else {"reused": True, "sameRequest": run.same_request}),
    }
    return _apply_outcome(session, turn, action, current, run.outcome, run_details)


def _apply_outcome(
    session: Session,
    turn: Turn,
    action: ProposedAction,
    current: Record,
    outcome: TaskOutcome,
    run_details: Mapping[str, Json],
) -> Session:
    """The session after the run, with the events: the record's result, then the changes of the task.

    These may include a new proposal.
    """
    session = close_record(session, turn, current.with_result(outcome.summarize_result()), outcome.status)
    before, after = session, outcome.apply_to(session)
    session = after.with_values(ActionParams(pending_action_result=outcome.status.value))
    if outcome.status is ActionStatus.EXECUTED:
        _audit(session, turn, PENDING_ACTION_EXECUTED, _EXECUTE, action.reference, **run_details)
    else:
        why = {"reason": outcome.error_type, "errorType": outcome.error_type, "reasonText": outcome.message}
        _audit(session, turn, PENDING_ACTION_FAILED, _EXECUTE, action.reference, **why, **run_details)
    audit_changed_facts(before, after, turn, by=action.reference, kind="TASK", session=session)
    return session


def _skip_action(
    session: Session, turn: Turn, decision: PolicyDecision, current: Record | None, reason: str, **more: Json
) -> Session:
    """Record why no action runs; the session is unchanged."""
    turn.audit(
        session,
        PENDING_ACTION_SKIPPED,
        policyDecision=decision.value,
        pendingActionRef=current.action_ref if current else None,
        **session.where,
        context=session.context,
        reason=reason,
        reasonText=_TEXTS.get(reason),
        **more,
    )
    return session


def _audit(session: Session, turn: Turn, stage: Stage, decision: PolicyDecision, reference: str, **more: Json) -> None:
    turn.audit(
        session,
        stage,
        policyDecision=decision.value,
        pendingActionRef=reference,
        **session.where,
        context=session.context,
        pendingActionResult=session.action.pending_action_result,
        **more,
    )


class NotRunnable(Exception):
    """The reference names nothing that can run; nothing was claimed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def run_once(session: Session, turn: Turn, action: ProposedAction, record: Record) -> ClaimedRun:
    """Claim, run, store the outcome. If an earlier turn claimed it, return its stored outcome and run nothing.

    Raises NotRunnable, and ConversationPersistFailed if claim or outcome cannot be stored.
    """
    reference, methods = resolve_reference(turn, action)
    # A digest of what was confirmed: the action, its scope, and the business fields at that time.
    fields = {key: value for key, value in session.context.items() if key not in {*ENGINE_BRANCHES, DIALOGUE}}
    request = json.dumps([action.key, action.reference, record.scope, fields], sort_keys=True, default=str)
    digest = hashlib.sha256(request.encode()).hexdigest()
    claim = ExecutionClaim(session.conversation_id, turn.turn_id, record.nonce, action.key, action.reference, digest)
    return run_claimed(turn, claim, reference, lambda: _run_methods(session, turn, action, record, reference, methods))


def resolve_reference(turn: Turn, action: ProposedAction) -> tuple[TaskReference, tuple[str, ...]]:
    """The registered task of a reference and its methods. Raises NotRunnable."""
    try:
        reference = parse(action.reference)
    except ActionValueError as error:
        raise NotRunnable(INVALID_REFERENCE, error.message) from error
    registered = turn.ports.tasks.methods(reference.task)
    if registered is None:
        raise NotRunnable(NOT_REGISTERED, build_unknown_task_error(reference.task, turn.ports.tasks.names()).message)
    methods = reference.choose_methods(registered)
    for method in methods:
        if method not in registered:
            has = ", ".join(sorted(registered))
            raise NotRunnable(NOT_REGISTERED, f"Task {reference.task} has no method {method}. It has: {has}.")
    return reference, methods


def _run_methods(
    session: Session,
    turn: Turn,
    action: ProposedAction,
    record: Record,
    reference: TaskReference,
    methods: Sequence[str],
) -> TaskOutcome:
    """Run the methods of the task in order, each with the time limit and its own idempotency key."""
    limit, key = turn.config(session, ACTION_TIMEOUT_MS, action.key), f"{session.conversation_id}:{record.nonce}"

    def run_method(method: str, seen: Session) -> TaskAnswer:
        task_run = TaskRun(f"{key}:{method}" if len(methods) > 1 else key, limit)
        return turn.ports.tasks.run(reference.task, method, seen, task_run=task_run)

    return run_methods(
        session,
        turn,
        methods,
        run_method,
        find_failure=lambda answer: answer.error_type or answer.refusal,
        reserved=_ENGINE_KEYS,
    )
