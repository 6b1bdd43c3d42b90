"""SET_TASK: run methods of a registered task (pipeline-2 2.2 and 7.4)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from convengine.engine.rules.actions.contract import (
    Action,
    ActionFailed,
    ActionValueError,
    audit_action,
    require_value,
    split_names,
)
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn.changed_facts import audit_changed_facts
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.ports import TaskAnswer
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "task:method"
USAGE = "Use task:method, task:method,method, or task."
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
#: The method of a bare reference to a task with several methods.
RUN = "run"


SET_TASK = declare_stage(
    "SET_TASK",
    Family.RULE,
    "A rule ran a task of the deployment.",
    steps=RULE_STEPS,
    keys="ruleId beanName beanMethodNames intent state context inputParams",
    sentences=(SentenceTemplate("ran the task {beanName}[ ({beanMethodNames:names})]"),),
)


@dataclass(frozen=True)
class TaskReference:
    """A registered task and its methods to run; without methods, the task's default."""

    task: str
    methods: tuple[str, ...] = ()

    def choose_methods(self, registered: Sequence[str]) -> tuple[str, ...]:
        """The methods to run: the named ones, else the one with the task's name, `run`, or the only one."""
        if self.methods:
            return self.methods
        for method in (self.task, RUN):
            if method in registered:
                return (method,)
        return tuple(registered) if len(registered) == 1 else (self.task,)


def parse(value: str | None) -> TaskReference:
    """`task:method[,method…]` or `task`. Raises ActionValueError."""
    task, colon, methods = require_value("SET_TASK", value, VALUE).partition(":")
    method_names = split_names(methods)
    if not _NAME.fullmatch(task.strip()) or (colon and not method_names):
        raise ActionValueError(USAGE)
    return TaskReference(task.strip(), method_names)


def check_reference(reference: TaskReference, registered: Mapping[str, Sequence[str]]) -> None:
    """Check that the deployment has the task and its methods. Raises ActionValueError."""
    methods = registered.get(reference.task)
    if methods is None:
        raise build_unknown_task_error(reference.task, registered)
    _check_methods(reference, methods)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Run the methods in order; each sees the results of the earlier ones. Raises ActionValueError and ActionFailed."""
    reference = parse(rule.action_value)
    registered = turn.ports.tasks.methods(reference.task)
    if registered is None:
        raise build_unknown_task_error(reference.task, turn.ports.tasks.names())
    _check_methods(reference, registered)
    changes: list[tuple[str, Session, Session]] = []
    for method in reference.choose_methods(registered):
        answer = turn.ports.tasks.run(reference.task, method, session, rule)
        before, session = session, apply_task_answer(session, answer)
        changes.append((f"{reference.task}:{method}", before, session))
        if answer.failed:
            _audit_changes(session, turn, changes)
            raise _build_failure(session, reference, method, answer)
    audit_action(
        rule,
        session,
        turn,
        SET_TASK,
        "context",
        "inputParams",
        beanName=reference.task,
        beanMethodNames=list(reference.choose_methods(registered)),
        intent=session.intent,
        state=session.state,
    )
    _audit_changes(session, turn, changes)
    return session


def _audit_changes(session: Session, turn: Turn, changes: Iterable[tuple[str, Session, Session]]) -> None:
    """What each method changed."""
    for method, before, after in changes:
        audit_changed_facts(before, after, turn, by=method, kind="TASK", session=session)


def apply_task_answer(session: Session, answer: TaskAnswer) -> Session:
    """The session with the changes of a task."""
    if answer.context:
        session = session.with_context(answer.context)
    if answer.context_removed:
        session = session.without_context(*answer.context_removed)
    return session.with_params(answer.input_params) if answer.input_params else session


def build_unknown_task_error(task: str, registered: Iterable[str]) -> ActionValueError:
    """The message for an unknown task: the known ones, and the most similar."""
    known = list(registered)
    names = join_names(known)
    remedy = f"{did_you_mean(task, known)} Name a registered task ({names}), or register {task} in code.".lstrip()
    message = f"There is no registered task {task}. Registered: {names}."
    return ActionValueError(message, "NOT_REGISTERED", remedy)


def _check_methods(reference: TaskReference, registered: Sequence[str]) -> None:
    for method in reference.choose_methods(registered):
        if method not in registered:
            has = join_names(registered)
            message = f"Task {reference.task} has no method {method}. It has: {has}."
            raise ActionValueError(message, "NOT_REGISTERED", f"Name a method of {reference.task}: {has}.")


def _build_failure(session: Session, reference: TaskReference, method: str, answer: TaskAnswer) -> ActionFailed:
    error_type, message = answer.error_type or "", answer.error_message or ""
    payload = {"task": reference.task, "method": method, "errorType": error_type, "errorMessage": message}
    return ActionFailed(error_type, message, session.with_params({"rule_task_error": payload}))


def _describe(reference: TaskReference) -> str:
    methods = f" ({', '.join(reference.methods)})" if reference.methods else ""
    return f"run the task {reference.task}{methods}"


ACTION = Action(
    RuleAction.SET_TASK.value,
    RuleAction.SET_TASK.label,
    help="Runs a registered task. Runs at most once per phase.",
    value=VALUE,
    picker="task",
    parse=parse,
    apply=apply,
    describe=_describe,
)
