"""Runs of registered tasks under a claim, so that each runs at most once, even if the process dies."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import ActionStatus
from convengine.engine.turn.ports import Execution, ExecutionClaim, TaskAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The method of a bare reference to a task with several methods.
RUN = "run"
#: Maximum size of the result for rules and templates.
MAX_RESULT_BYTES = 16 * 1024
#: An earlier turn claimed the run, and nobody knows how it ended.
ALREADY_CLAIMED = "ALREADY_CLAIMED"


@dataclass(frozen=True)
class TaskReference:
    """A registered task and its methods to run; without methods, the task's default."""

    task: str
    methods: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.task}:{','.join(self.methods)}" if self.methods else self.task

    def choose_methods(self, registered: Sequence[str]) -> tuple[str, ...]:
        """The methods to run: the named ones, else the one with the task's name, `run`, or the only one."""
        if self.methods:
            return self.methods
        for method in (self.task, RUN):
            if method in registered:
                return (method,)
        return tuple(registered) if len(registered) == 1 else (self.task,)


@dataclass(frozen=True)
class TaskOutcome:
    """The result of a run, complete enough for a later turn to apply it."""

    status: ActionStatus
    values: Sequence[Json]
    #: The changes of each method: {context, context_removed, input_params}.
    effects: Sequence[Mapping[str, Json]]
    finished_at: str
    error_type: str | None = None
    message: str | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "status": self.status.value,
            "values": list(self.values),
            "effects": list(self.effects),
            "finishedAt": self.finished_at,
            "errorType": self.error_type,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, status: str, record: Mapping[str, Json]) -> "TaskOutcome":
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
class ClaimedRun:
    """A claim and its outcome. Without an outcome, an earlier turn claimed it and its end is unknown."""

    reference: TaskReference
    execution: Execution
    outcome: TaskOutcome | None
    #: The request is that of the run.
    same_request: bool = True


def run_claimed(
    turn: Turn, claim: ExecutionClaim, reference: TaskReference, run: Callable[[], TaskOutcome]
) -> ClaimedRun:
    """Claim, run, store the outcome. If an earlier turn claimed it, return its stored outcome and run nothing.

    Raises ConversationPersistFailed if claim or outcome cannot be stored.
    """
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        turn.uninterruptible = True
        outcome = run()
        turn.ports.executions.finish(claim, outcome.status.value, outcome.to_json())
        return ClaimedRun(reference, execution, outcome)
    if execution.status == "CLAIMED":
        return ClaimedRun(reference, execution, None)
    result = execution.result if isinstance(execution.result, Mapping) else {}
    outcome = TaskOutcome.from_json(execution.status, result)
    return ClaimedRun(reference, execution, outcome, execution.request_hash == claim.request_hash)


def run_methods(
    session: Session,
    turn: Turn,
    methods: Sequence[str],
    run_method: Callable[[str, Session], TaskAnswer],
    *,
    find_failure: Callable[[TaskAnswer], str | None] = lambda answer: answer.error_type,
    reserved: Collection[str] = (),
) -> TaskOutcome:
    """Run the methods in order; each sees the changes of the earlier ones. The first failure ends the run.

    `find_failure` gives the type of the error of an answer, None for a success. `reserved` are context fields that a
    method may not write.
    """
    values: list[Json] = []
    effects: list[Mapping[str, Json]] = []
    finished_at = turn.ports.clock.now().isoformat()
    for method in methods:
        answer = run_method(method, session)
        effects.append(
            {
                "context": {key: value for key, value in answer.context.items() if key not in reserved},
                "context_removed": [key for key in answer.context_removed if key not in reserved],
                "input_params": dict(answer.input_params),
            }
        )
        if failure := find_failure(answer):
            return TaskOutcome(ActionStatus.FAILED, values, effects, finished_at, failure, answer.error_message)
        values.append(answer.value)
        session = apply_task_answer(session, answer)
    return TaskOutcome(ActionStatus.EXECUTED, values, effects, finished_at)


def apply_task_answer(session: Session, answer: TaskAnswer) -> Session:
    if answer.context:
        session = session.with_context(answer.context)
    if answer.context_removed:
        session = session.without_context(*answer.context_removed)
    return session.with_params(answer.input_params) if answer.input_params else session
