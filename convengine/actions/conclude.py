"""What becomes of a confirmed or refused action in its turn (pipeline-2 2.1; R35, R82, R99, R100)."""

from collections.abc import Mapping
from typing import Any

from convengine.actions import choice, record
from convengine.actions.choice import Action, Scope
from convengine.actions.lifecycle import begun, cleaned, concluded
from convengine.actions.record import LIVE, Record
from convengine.actions.run import NotRunnable, Outcome, Run, run_once
from convengine.domain.enums import ActionStatus, PolicyDecision
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import truthy
from convengine.domain.turn import Turn

Json = Any

_EXECUTE, _REJECT = PolicyDecision.EXECUTE_PENDING_ACTION, PolicyDecision.REJECT_PENDING_ACTION
_RECLASSIFY = PolicyDecision.RECLASSIFY_INTENT
#: Wording of the reasons of R100 that need one.
_TEXTS = {
    "GUARDRAIL": "The guardrail holds the action back until it is approved.",
    "EXPIRED": "The action was no longer open when it was confirmed.",
    "RULE": "A rule holds the action back.",
    "AMBIGUOUS_OR_NO_KEY": "No action is named, and the rows of this intent and state leave none or several.",
    "NO_REFERENCE": "The named action has no row here with a task to run.",
    "ALREADY_CLAIMED": "An earlier turn began to run the action and did not say how it ended; a person must look.",
    "REPLY_OVERRIDE": "This turn is answered otherwise.",
}


def conclude(session: Session, turn: Turn) -> Session:
    """Run the action that was confirmed, or drop the one that was refused. A task that fails never fails the turn."""
    decision = PolicyDecision.read(session.input_params.get("policy_decision")) or _RECLASSIFY
    confirmed = _EXECUTE in (decision, session.interaction_decision)
    # Refusing is never held back: it runs nothing (R99).
    if decision is not _REJECT and confirmed and (reason := _held_back(session, decision)):
        return _skipped(session, turn, _RECLASSIFY, record.read(session), reason)
    if decision not in (_EXECUTE, _REJECT):
        return session
    chosen = choice.choose(session, turn, _decided_in(session))
    choice.tell(session, turn, chosen)
    if chosen.action is None:
        reason = "AMBIGUOUS_OR_NO_KEY" if chosen.key is None else "NO_REFERENCE"
        return _skipped(session, turn, decision, None, reason, actionKey=chosen.key)
    found = begun(session, turn, chosen.action)
    if decision is _REJECT:
        return _rejected(session, turn, chosen.action, found)
    if found is None or found.status is not ActionStatus.IN_PROGRESS:
        status = found.status.value if found else "NONE"
        return _skipped(session, turn, decision, found, f"RUNTIME_STATUS_{status}", actionKey=chosen.action.key)
    return _executed(session, turn, chosen.action, found)


def _held_back(session: Session, decision: PolicyDecision) -> str | None:
    """Why a yes runs nothing although there was something to run; null when it does, or when that was told already."""
    params, found = session.input_params, record.read(session)
    if truthy(params.get("guardrail_blocked")):
        return "GUARDRAIL"
    if params.get("pending_action_result") == ActionStatus.EXPIRED:
        return "EXPIRED"
    if truthy(params.get("skip_pending_action_execution")):
        return "RULE"
    if decision is _EXECUTE:
        return "REPLY_OVERRIDE" if session.reply_override or session.reset_only else None
    if truthy(params.get("pending_action_disambiguation_required")):
        return None
    return f"RUNTIME_STATUS_{found.status.value}" if found and found.status in record.FINAL else "RULE"


def _decided_in(session: Session) -> Scope:
    """The intent and state in which the user decided, also when a rule has moved the dialogue on since."""
    found = record.read(session)
    if found and session.turn_no in (found.in_progress_turn, found.rejected_turn):
        intent, _, state = found.scope.partition("|")
        return Scope(intent, state)
    return Scope.of(session)


def _rejected(session: Session, turn: Turn, action: Action, found: Record | None) -> Session:
    if found and found.status is ActionStatus.EXECUTED:
        return _skipped(session, turn, _REJECT, found, "RUNTIME_STATUS_EXECUTED", actionKey=action.key)
    if found and (found.status in LIVE or found.status is ActionStatus.REJECTED):
        session = concluded(session, turn, found, ActionStatus.REJECTED)
    else:
        # Nothing was open, or it expired in this very turn: there is nothing left to reject, and the no is heard.
        session = cleaned(session)
    session = session.with_params({"pending_action_result": ActionStatus.REJECTED.value})
    _audit(session, turn, Stage.PENDING_ACTION_REJECTED, _REJECT, action.reference)
    return session


def _executed(session: Session, turn: Turn, action: Action, found: Record) -> Session:
    started = turn.ports.clock.elapsed_ms()
    try:
        ran = run_once(session, turn, action, found)
    except NotRunnable as error:
        now = turn.ports.clock.now().isoformat()
        outcome = Outcome(ActionStatus.FAILED, (), (), now, error.reason, error.message)
        return _told(session, turn, action, found, outcome, {})
    if ran.outcome is None:
        # Once it expired, a further yes would open it anew, and what may have run would run again.
        session = record.written(session, found.left_open(ran.execution.other_nonce or found.nonce))
        return _skipped(session, turn, _EXECUTE, found, "ALREADY_CLAIMED", actionKey=action.key)
    about = {"durationMs": int(turn.ports.clock.elapsed_ms() - started), **_about(ran)}
    return _told(session, turn, action, found, ran.outcome, about)


def _about(ran: Run) -> dict[str, Json]:
    methods = ",".join(ran.reference.methods) or ran.reference.task
    reused = {} if ran.execution.claimed else {"reused": True, "sameRequest": ran.same_request}
    return {
        "taskBean": ran.reference.task,
        "taskMethods": methods,
        "executionId": ran.execution.execution_id,
        **reused,
    }


def _told(
    session: Session, turn: Turn, action: Action, found: Record, outcome: Outcome, about: Mapping[str, Json]
) -> Session:
    """The session after the run: the record with its result, then what the task wrote, which may be a new proposal."""
    session = concluded(session, turn, found.with_result(outcome.result()), outcome.status)
    session = outcome.applied(session).with_params({"pending_action_result": outcome.status.value})
    if outcome.status is ActionStatus.EXECUTED:
        _audit(session, turn, Stage.PENDING_ACTION_EXECUTED, _EXECUTE, action.reference, **about)
        return session
    _audit(
        session,
        turn,
        Stage.PENDING_ACTION_FAILED,
        _EXECUTE,
        action.reference,
        reason=outcome.error_type,
        errorType=outcome.error_type,
        reasonText=outcome.message,
        **about,
    )
    return session


def _skipped(
    session: Session, turn: Turn, decision: PolicyDecision, found: Record | None, reason: str, **more: Json
) -> Session:
    turn.audit(
        session,
        Stage.PENDING_ACTION_SKIPPED,
        policyDecision=decision.value,
        pendingActionRef=found.action_ref if found else None,
        intent=session.intent,
        state=session.state,
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
        intent=session.intent,
        state=session.state,
        context=session.context,
        pendingActionResult=session.input_params.get("pending_action_result"),
        **more,
    )
