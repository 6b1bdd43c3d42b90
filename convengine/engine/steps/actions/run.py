"""Run a confirmed action's task at most once, even if the process dies."""

import hashlib
import json
from collections.abc import Sequence

from convengine.engine.pending_actions.choice import Action
from convengine.engine.pending_actions.record import ORDINAL, RECORD, Record
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES, ActionValueError
from convengine.engine.rules.actions.set_task import build_unknown_task_error, parse
from convengine.engine.rules.task_runs import ClaimedRun, Outcome, TaskReference, run_claimed, run_methods
from convengine.engine.steps.actions.settings import ACTION_TIMEOUT_MS
from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.engine.turn.ports import ExecutionClaim, TaskAnswer, TaskRun
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

INVALID_REFERENCE = "INVALID_REFERENCE"
NOT_REGISTERED = "NOT_REGISTERED"
#: Keys that a task may not write, because the engine writes them for it.
_ENGINE_KEYS = (RECORD, ORDINAL)


class NotRunnable(Exception):
    """The reference names nothing that can run; nothing was claimed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def run_once(session: Session, turn: Turn, action: Action, record: Record) -> ClaimedRun:
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
