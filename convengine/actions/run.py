"""Running a confirmed action's task at most once, whatever dies in between (pipeline-2 2.2 to 2.4, R81)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from convengine.actions.choice import Action
from convengine.actions.record import ORDINAL, RECORD, Record
from convengine.codec import dumps
from convengine.domain.catalogue.data import ACTION_TIMEOUT_MS
from convengine.domain.enums import ActionStatus
from convengine.domain.ports import ActionRun, Execution, ExecutionClaim, TaskAnswer
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.rules.actions.context_paths import ENGINE_BRANCHES
from convengine.rules.actions.contract import ActionValueError
from convengine.rules.actions.set_task import TaskReference, after_task, not_registered, parse

Json = Any

INVALID_REFERENCE = "INVALID_REFERENCE"
NOT_REGISTERED = "NOT_REGISTERED"
#: How large the result may be that rules and templates see.
MAX_RESULT_BYTES = 16 * 1024
#: What a task may not write: it is being written for it.
_OURS = (RECORD, ORDINAL)


class NotRunnable(Exception):
    """The reference names nothing that could run; nothing was claimed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True)
class Outcome:
    """How a run ended, complete enough to be told again by a turn that finds it done."""

    status: ActionStatus
    values: Sequence[Json]
    #: What each method that ended left behind: {context, context_removed, input_params}.
    effects: Sequence[Mapping[str, Json]]
    finished_at: str
    error_type: str | None = None
    message: str | None = None

    def stored(self) -> dict[str, Json]:
        """The outcome as the book of executions keeps it."""
        return {
            "status": self.status.value,
            "values": list(self.values),
            "effects": list(self.effects),
            "finishedAt": self.finished_at,
            "errorType": self.error_type,
            "message": self.message,
        }

    @classmethod
    def restored(cls, status: str, found: Mapping[str, Json]) -> "Outcome":
        """The outcome that an earlier turn left there."""
        return cls(
            ActionStatus(status),
            found.get("values") or (),
            found.get("effects") or (),
            str(found.get("finishedAt") or ""),
            found.get("errorType"),
            found.get("message"),
        )

    def result(self) -> dict[str, Json]:
        """What rules and templates see under `pending_action_runtime.result`; values too large for it are left out."""
        whole = {
            "status": self.status.value,
            "values": list(self.values),
            "errorType": self.error_type,
            "finishedAt": self.finished_at,
        }
        if len(dumps(whole).encode()) > MAX_RESULT_BYTES:
            return {**whole, "values": [], "truncated": True}
        return whole

    def applied(self, session: Session) -> Session:
        """The session with what the methods wrote and removed, in their order."""
        return reduce(after_task, (TaskAnswer(**effect) for effect in self.effects), session)


@dataclass(frozen=True)
class Run:
    """A claim and what came of it. No outcome: an earlier turn claimed it, and nobody knows how it ended."""

    reference: TaskReference
    execution: Execution
    outcome: Outcome | None
    #: What was confirmed now is what was confirmed when the task ran.
    same_request: bool = True


def run_once(session: Session, turn: Turn, action: Action, found: Record) -> Run:
    """Claim, run, note. A claim of an earlier turn gives its stored outcome, and nothing runs.

    Raises NotRunnable, and ConversationPersistFailed when claim or outcome could not be stored.
    """
    reference, methods = resolved(turn, action)
    digest = _digest(session, action, found)
    claim = ExecutionClaim(session.conversation_id, turn.turn_id, found.nonce, action.key, action.reference, digest)
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        turn.uninterruptible = True
        outcome = _run(session, turn, action, found, reference, methods)
        turn.ports.executions.finish(claim, outcome.status.value, outcome.stored())
        return Run(reference, execution, outcome)
    if execution.status == "CLAIMED":
        return Run(reference, execution, None)
    known = execution.result if isinstance(execution.result, Mapping) else {}
    return Run(reference, execution, Outcome.restored(execution.status, known), execution.request_hash == digest)


def resolved(turn: Turn, action: Action) -> tuple[TaskReference, tuple[str, ...]]:
    """The registered task of a reference and the methods to run. Raises NotRunnable."""
    try:
        reference = parse(action.reference)
    except ActionValueError as error:
        raise NotRunnable(INVALID_REFERENCE, error.message) from error
    registered = turn.ports.tasks.methods(reference.task)
    if registered is None:
        raise NotRunnable(NOT_REGISTERED, not_registered(reference.task, turn.ports.tasks.names()).message)
    methods = reference.chosen(registered)
    for method in methods:
        if method not in registered:
            has = ", ".join(sorted(registered))
            raise NotRunnable(NOT_REGISTERED, f"Task {reference.task} has no method {method}. It has: {has}.")
    return reference, methods


def _run(
    session: Session, turn: Turn, action: Action, found: Record, reference: TaskReference, methods: Sequence[str]
) -> Outcome:
    """The methods in order, each seeing what the ones before it did; the first that fails is the last."""
    limit = turn.config(session, ACTION_TIMEOUT_MS, action.key)
    how = ActionRun(f"{session.conversation_id}:{found.nonce}", limit)
    values: list[Json] = []
    effects: list[Mapping[str, Json]] = []
    finished_at = turn.ports.clock.now().isoformat()
    for method in methods:
        answer = turn.ports.tasks.run(reference.task, method, session, action=how)
        effects.append(_effect(answer))
        if reason := answer.error_type or answer.refusal:
            return Outcome(ActionStatus.FAILED, values, effects, finished_at, reason, answer.error_message)
        values.append(answer.value)
        session = after_task(session, answer)
    return Outcome(ActionStatus.EXECUTED, values, effects, finished_at)


def _effect(answer: TaskAnswer) -> dict[str, Json]:
    return {
        "context": {key: value for key, value in answer.context.items() if key not in _OURS},
        "context_removed": [key for key in answer.context_removed if key not in _OURS],
        "input_params": dict(answer.input_params),
    }


def _digest(session: Session, action: Action, found: Record) -> str:
    """What was confirmed: the action, where, and the business fields of that moment."""
    fields = {key: value for key, value in session.context.items() if key not in ENGINE_BRANCHES}
    told = json.dumps([action.key, action.reference, found.scope, fields], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()
