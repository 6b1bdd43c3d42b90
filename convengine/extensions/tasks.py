"""Running registered tasks: on the tape, with their effects as part of the answer."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from convengine.codec import plain
from convengine.domain.facts import session_dict
from convengine.domain.ports import TaskAnswer
from convengine.domain.recording import Tape
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.extensions.registry import Registry


@dataclass
class TaskCall:
    """What a task gets: copies to read, and two ways to leave something behind."""

    session: Mapping[str, Any]
    context: Mapping[str, Any]
    input_params: Mapping[str, Any]
    #: The rule that called, null for a pending action.
    rule: Rule | None = None
    #: The same for every attempt of one pending action; hand it to what you call (pipeline-2 2.4).
    idempotency_key: str | None = None
    written_context: dict[str, Any] = field(default_factory=dict)
    removed_context: list[str] = field(default_factory=list)
    written_params: dict[str, Any] = field(default_factory=dict)

    def set_context(self, key: str, value: Any) -> None:
        """Write a top-level context field."""
        self.written_context[key] = value

    def clear_context(self, key: str) -> None:
        """Remove a top-level context field."""
        self.removed_context.append(key)

    def set_input_param(self, key: str, value: Any) -> None:
        """Write an input param."""
        self.written_params[key] = value


class Tasks:
    """The tasks port."""

    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._registry = registry
        self._tape = tape

    def methods(self, task: str) -> Sequence[str] | None:
        """The method names of a registered task; null when there is no such task."""
        found = self._tape.ask("task.methods", task, lambda: self._names(task))
        return None if found is None else tuple(found)

    def _names(self, task: str) -> list[str] | None:
        entry = self._registry.tasks.get(task)
        return None if entry is None else sorted(entry.methods)

    def run(self, task: str, method: str, session: Session, rule: Rule | None = None) -> TaskAnswer:
        """Run one method. What it raises is part of the answer."""
        request = {"task": task, "method": method, "ruleId": rule.rule_id if rule else None}
        return TaskAnswer(**self._tape.ask("task", request, lambda: self._call(task, method, session, rule)))

    def _call(self, task: str, method: str, session: Session, rule: Rule | None) -> dict[str, Any]:
        entry = self._registry.tasks.get(task)
        if entry is None or method not in entry.methods:
            return asdict(TaskAnswer(error_type="NOT_REGISTERED", error_message=f"There is no task {task}:{method}."))
        call = TaskCall(
            plain(session_dict(session)),
            copy.deepcopy(dict(session.context)),
            copy.deepcopy(dict(session.input_params)),
            rule,
        )
        try:
            value = entry.methods[method](call)
        except Exception as error:
            return asdict(TaskAnswer(error_type=type(error).__name__, error_message=str(error)))
        answer: dict[str, Any] = plain(
            asdict(TaskAnswer(value, call.written_context, call.removed_context, call.written_params))
        )
        return answer
