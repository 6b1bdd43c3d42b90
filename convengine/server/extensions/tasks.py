"""Run registered tasks: recorded, with their effects as part of the answer."""

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from convengine.engine.turn.codec import TOO_DEEP, is_too_deep, to_plain
from convengine.engine.turn.facts import collect_extension_facts
from convengine.engine.turn.ports import TaskAnswer, TaskRun
from convengine.engine.turn.recording import Aside
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.server.extensions.bounded import RecordedPort, call_within
from convengine.server.extensions.faults import report_fault
from convengine.server.extensions.registry import TaskEntry
from convengine.server.observability.calls import trace_call
from convengine.server.resilience.waiting import Overloaded


@dataclass
class TaskCall:
    """The argument of a task: copies to read, and methods to write."""

    session: Mapping[str, Any]
    context: Mapping[str, Any]
    input_params: Mapping[str, Any]
    #: The calling rule. None for a pending action.
    rule: Rule | None = None
    #: Every attempt of one pending action, rule or tool call has the same key. Pass it to other systems.
    idempotency_key: str = ""
    #: The arguments of a tool that runs this task; empty for rules and pending actions.
    args: Mapping[str, Any] = field(default_factory=dict)
    written_context: dict[str, Any] = field(default_factory=dict)
    removed_context: list[str] = field(default_factory=list)
    written_params: dict[str, Any] = field(default_factory=dict)

    def set_context(self, key: str, value: Any) -> None:
        """Write a top-level context field. Raises ValueError for a value that is nested too deep."""
        self.written_context[key] = _check_depth(value)

    def clear_context(self, key: str) -> None:
        """Remove a top-level context field."""
        self.removed_context.append(key)

    def set_input_param(self, key: str, value: Any) -> None:
        """Write an input param. Raises ValueError for a value that is nested too deep."""
        self.written_params[key] = _check_depth(value)


def _check_depth(value: Any) -> Any:
    """The value. Raises ValueError for one that is nested too deep."""
    if is_too_deep(value):
        raise ValueError(TOO_DEEP)
    return value


@dataclass(frozen=True)
class TaskResult:
    """A task's explicit result; a plain value counts as success, `False` as failure."""

    ok: bool
    code: str = ""
    message: str = ""
    data: Any = None


class Tasks(RecordedPort):
    def methods(self, task: str) -> Sequence[str] | None:
        """The method names of a registered task. Returns None if there is none."""
        entry = self.registry.tasks.get(task)
        names = self.tape.ask("task.methods", task, lambda: None if entry is None else sorted(entry.methods))
        return None if names is None else tuple(names)

    def names(self) -> Sequence[str]:
        return tuple(self.tape.ask("task.names", None, lambda: sorted(self.registry.tasks)))

    def allowed_from_context(self, task: str) -> bool:
        """True when the task was registered with `allow_from_context`."""

        def is_registered() -> bool:
            entry = self.registry.tasks.get(task)
            return entry is not None and entry.allow_from_context

        return bool(self.tape.ask("task.allowed_from_context", task, is_registered))

    def is_repeatable(self, task: str, methods: Sequence[str]) -> bool:
        """True when the task was registered with `repeatable`, for all of these methods."""

        def may_run_again() -> bool:
            entry = self.registry.tasks.get(task)
            return entry is not None and all(entry.is_repeatable(method) for method in methods)

        return bool(self.tape.ask("task.repeatable", {"task": task, "methods": list(methods)}, may_run_again))

    def run(
        self, task: str, method: str, session: Session, rule: Rule | None = None, task_run: TaskRun | None = None
    ) -> TaskAnswer:
        """Run one method. An exception is part of the answer.

        With a time limit it runs in a thread of its own: after that time the answer is a TimeoutError, but the thread
        may still finish.
        """
        request = {"task": task, "method": method, "ruleId": rule.rule_id if rule else None}
        if task_run:
            request["idempotencyKey"] = task_run.idempotency_key
        aside = Aside(lambda: to_plain([session.context, session.input_params]))
        answer = self.tape.ask("task", request, lambda: self._trace(task, method, session, rule, task_run), aside)
        return TaskAnswer(**answer)

    def _trace(
        self, task: str, method: str, session: Session, rule: Rule | None, task_run: TaskRun | None
    ) -> dict[str, Any]:
        started = time.monotonic()
        answer = self._call(task, method, session, rule, task_run)
        trace_call("task", f"{task}:{method}", time.monotonic() - started, answer["error_type"])
        return answer

    def _call(
        self, task: str, method: str, session: Session, rule: Rule | None, task_run: TaskRun | None
    ) -> dict[str, Any]:
        """Run one method. Returns the fields of a TaskAnswer; a fault is part of it."""
        entry = self.registry.tasks.get(task)
        if entry is None or method not in entry.methods:
            return asdict(TaskAnswer(error_type="NOT_REGISTERED", error_message=f"There is no task {task}:{method}."))
        call = TaskCall(
            to_plain(collect_extension_facts(session)),
            copy.deepcopy(dict(session.context)),
            copy.deepcopy(dict(session.input_params)),
            rule,
            task_run.idempotency_key if task_run else "",
        )
        try:
            with self.wait():
                if task_run is None or task_run.timeout_ms is None:
                    value = entry.methods[method](call)
                else:
                    value = call_within(task_run.timeout_ms, lambda: entry.methods[method](call), self.afterwards)
        except Overloaded as error:
            return asdict(TaskAnswer(error_type="OVERLOADED", error_message=str(error)))
        except (Exception, SystemExit) as error:
            report_fault("TASK", f"{task}:{method}", error)
            return asdict(TaskAnswer(error_type=type(error).__name__, error_message=str(error)))
        answer: dict[str, Any] = to_plain(asdict(_make_answer(value, call, entry)))
        return answer


def _make_answer(value: Any, call: TaskCall, entry: TaskEntry) -> TaskAnswer:
    """The answer of a method that ran: its value, what it wrote, and its failure if it reported one."""
    result = value if isinstance(value, TaskResult) else TaskResult(True, data=value)
    return TaskAnswer(
        # The work is done, whatever it returned.
        TOO_DEEP if is_too_deep(result.data) else result.data,
        call.written_context,
        call.removed_context,
        call.written_params,
        None if result.ok else result.code or "TASK_FAILED",
        None if result.ok else result.message,
        _find_refusal(value, entry),
    )


def _find_refusal(value: Any, entry: TaskEntry) -> str | None:
    """Why a returned value is no success by itself: NULL_RESULT or RETURNED_FALSE. Returns None if it is one."""
    if value is None:
        return None if entry.returns_none else "NULL_RESULT"
    return "RETURNED_FALSE" if value is False else None
