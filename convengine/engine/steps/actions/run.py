"""Run a confirmed action's task at most once, even if the process dies (pipeline-2 2.2 to 2.4, R81)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from convengine.engine.pending_actions.choice import Action
from convengine.engine.pending_actions.record import ORDINAL, RECORD, Record
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES, ActionValueError
from convengine.engine.rules.actions.set_task import TaskReference, apply_task_answer, build_unknown_task_error, parse
from convengine.engine.steps.actions.settings import ACTION_TIMEOUT_MS
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import ActionStatus
from convengine.engine.turn.ports import ActionRun, Execution, ExecutionClaim, TaskAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any

INVALID_REFERENCE = "INVALID_REFERENCE"
NOT_REGISTERED = "NOT_REGISTERED"
#: Maximum size of the result for rules and templates.
MAX_RESULT_BYTES = 16 * 1024
#: Keys that a task may not write, because the engine writes them for it.
_ENGINE_KEYS = (RECORD, ORDINAL)


class NotRunnable(Exception):
    """The reference names nothing that can run; nothing was claimed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True)
class Outcome:
    """The result of a run, complete enough for a later turn to apply it."""

    status: ActionStatus
    values: Sequence[Json]
    #: The changes of each method: {context, context_removed, input_params}.
    effects: Sequence[Mapping[str, Json]]
    finished_at: str
    error_type: str | None = None
    message: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The outcome for the claim's row."""
        return {
            "status": self.status.value,
            "values": list(self.values),
            "effects": list(self.effects),
            "finishedAt": self.finished_at,
            "errorType": self.error_type,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, status: str, record: Mapping[str, Json]) -> "Outcome":
        """The outcome that an earlier turn stored."""
        return cls(
            ActionStatus(status),
            record.get("values") or (),
            record.get("effects") or (),
            str(record.get("finishedAt") or ""),
            record.get("errorType"),
            record.get("message"),
        )

    def summarize_result(self) -> dict[str, Json]:
        """The value of `pending_action_runtime.result` for rules and templates, without values that are too large."""
        summary = {
            "status": self.status.value,
            "values": list(self.values),
            "errorType": self.error_type,
            "finishedAt": self.finished_at,
        }
        if len(dumps(summary).encode()) > MAX_RESULT_BYTES:
            return {**summary, "values": [], "truncated": True}
        return summary

    def apply_to(self, session: Session) -> Session:
        """The session with the methods' changes, in order."""
        return reduce(apply_task_answer, (TaskAnswer(**effect) for effect in self.effects), session)


@dataclass(frozen=True)
class Run:
    """A claim and its outcome. Without an outcome, an earlier turn claimed it and its end is unknown."""

    reference: TaskReference
    execution: Execution
    outcome: Outcome | None
    #: The confirmed values are those of the run.
    same_request: bool = True


def run_once(session: Session, turn: Turn, action: Action, record: Record) -> Run:
    """Claim, run, store the outcome. If an earlier turn claimed it, return its stored outcome and run nothing.

    Raises NotRunnable, and ConversationPersistFailed if claim or outcome cannot be stored.
    """
    reference, methods = resolve_reference(turn, action)
    digest = _hash_request(session, action, record)
    claim = ExecutionClaim(session.conversation_id, turn.turn_id, record.nonce, action.key, action.reference, digest)
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        turn.uninterruptible = True
        outcome = _run_methods(session, turn, action, record, reference, methods)
        turn.ports.executions.finish(claim, outcome.status.value, outcome.to_json())
        return Run(reference, execution, outcome)
    if execution.status == "CLAIMED":
        return Run(reference, execution, None)
    result = execution.result if isinstance(execution.result, Mapping) else {}
    return Run(reference, execution, Outcome.from_json(execution.status, result), execution.request_hash == digest)


def resolve_reference(turn: Turn, action: Action) -> tuple[TaskReference, tuple[str, ...]]:
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
    session: Session, turn: Turn, action: Action, record: Record, reference: TaskReference, methods: Sequence[str]
) -> Outcome:
    """Run the methods in order; each sees the changes of the earlier ones. The first failure ends the run."""
    limit = turn.config(session, ACTION_TIMEOUT_MS, action.key)
    action_run = ActionRun(f"{session.conversation_id}:{record.nonce}", limit)
    values: list[Json] = []
    effects: list[Mapping[str, Json]] = []
    finished_at = turn.ports.clock.now().isoformat()
    for method in methods:
        answer = turn.ports.tasks.run(reference.task, method, session, action=action_run)
        effects.append(_read_effect(answer))
        if reason := answer.error_type or answer.refusal:
            return Outcome(ActionStatus.FAILED, values, effects, finished_at, reason, answer.error_message)
        values.append(answer.value)
        session = apply_task_answer(session, answer)
    return Outcome(ActionStatus.EXECUTED, values, effects, finished_at)


def _read_effect(answer: TaskAnswer) -> dict[str, Json]:
    return {
        "context": {key: value for key, value in answer.context.items() if key not in _ENGINE_KEYS},
        "context_removed": [key for key in answer.context_removed if key not in _ENGINE_KEYS],
        "input_params": dict(answer.input_params),
    }


def _hash_request(session: Session, action: Action, record: Record) -> str:
    """A digest of what was confirmed: the action, its scope, and the business fields at that time."""
    fields = {key: value for key, value in session.context.items() if key not in ENGINE_BRANCHES}
    request = json.dumps([action.key, action.reference, record.scope, fields], sort_keys=True, default=str)
    return hashlib.sha256(request.encode()).hexdigest()
