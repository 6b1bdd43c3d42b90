"""SET_TASK: run methods of a registered task (pipeline-2 2.2 and 7.4)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from convengine.domain.ports import TaskAnswer
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionFailed, ActionValueError, audit, names, one_of, required

VALUE = "task:method"
USAGE = "Use task:method, task:method,method, or task."
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
#: What a bare reference to a task with several methods runs.
RUN = "run"


@dataclass(frozen=True)
class TaskReference:
    """A registered task and its methods to run; no methods stands for the task's own."""

    task: str
    methods: tuple[str, ...] = ()

    def chosen(self, registered: Sequence[str]) -> tuple[str, ...]:
        """The methods to run: those named, else the one of the task's name, `run`, or the only one."""
        if self.methods:
            return self.methods
        for method in (self.task, RUN):
            if method in registered:
                return (method,)
        return tuple(registered) if len(registered) == 1 else (self.task,)


def parse(value: str | None) -> TaskReference:
    """`task:method[,method…]` or `task`. Raises ActionValueError."""
    task, colon, methods = required("SET_TASK", value, VALUE).partition(":")
    found = names(methods)
    if not _NAME.fullmatch(task.strip()) or (colon and not found):
        raise ActionValueError(USAGE)
    return TaskReference(task.strip(), found)


def check(reference: TaskReference, registered: Mapping[str, Sequence[str]]) -> None:
    """Compare a reference with the deployment's tasks and their methods. Raises ActionValueError."""
    methods = registered.get(reference.task)
    if methods is None:
        raise not_registered(reference.task, registered)
    _check_methods(reference, methods)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Run the methods in order; each sees what the ones before it did. Raises ActionValueError and ActionFailed."""
    reference = parse(rule.action_value)
    registered = turn.ports.tasks.methods(reference.task)
    if registered is None:
        raise not_registered(reference.task, turn.ports.tasks.names())
    _check_methods(reference, registered)
    for method in reference.chosen(registered):
        answer = turn.ports.tasks.run(reference.task, method, session, rule)
        session = after_task(session, answer)
        if answer.failed:
            raise _failed(session, reference, method, answer)
    audit(
        rule,
        session,
        turn,
        Stage.SET_TASK,
        "context",
        "inputParams",
        beanName=reference.task,
        beanMethodNames=list(reference.chosen(registered)),
        intent=session.intent,
        state=session.state,
    )
    return session


def after_task(session: Session, answer: TaskAnswer) -> Session:
    """The session with what a task wrote and removed."""
    if answer.context:
        session = session.with_context(answer.context)
    if answer.context_removed:
        session = session.without_context(*answer.context_removed)
    return session.with_params(answer.input_params) if answer.input_params else session


def not_registered(task: str, registered: Iterable[str]) -> ActionValueError:
    """What is said of a task that there is not: which there are, and which of them may have been meant."""
    known = sorted(registered)
    near = get_close_matches(task, known, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    remedy = f"{meant}Name a registered task ({one_of(known) or 'none'}), or register {task} in code."
    message = f"There is no registered task {task}. Registered: {one_of(known) or 'none'}."
    return ActionValueError(message, "NOT_REGISTERED", remedy)


def _check_methods(reference: TaskReference, registered: Sequence[str]) -> None:
    for method in reference.chosen(registered):
        if method not in registered:
            has = one_of(sorted(registered))
            message = f"Task {reference.task} has no method {method}. It has: {has}."
            raise ActionValueError(message, "NOT_REGISTERED", f"Name a method of {reference.task}: {has}.")


def _failed(session: Session, reference: TaskReference, method: str, answer: TaskAnswer) -> ActionFailed:
    error_type, message = answer.error_type or "", answer.error_message or ""
    told = {"task": reference.task, "method": method, "errorType": error_type, "errorMessage": message}
    return ActionFailed(error_type, message, session.with_params({"rule_task_error": told}))
