"""The executor of group WORKFLOW_ACTION: a registered task, called with arguments (pipeline-2 3.2).

The tool's code is the task's name, or `task.method`.
"""

import copy
from collections.abc import Callable
from typing import Any

from django.db import connections

from convengine.codec import plain, strict
from convengine.domain import settings
from convengine.domain.catalogue.data import ACTION_TIMEOUT_MS
from convengine.domain.facts import session_dict
from convengine.domain.ports import ToolAnswer
from convengine.executors.http_client import idempotency_key
from convengine.executors.job import Job
from convengine.extensions.bounded import call_within
from convengine.extensions.tasks import TaskCall, TaskResult
from convengine.tools.fault import ToolFault

Json = Any


class ToolTaskCall(TaskCall):
    """The call of a task as a tool: what it has to say it returns."""

    def set_context(self, key: str, value: Any) -> None:
        """Raises TypeError."""
        raise TypeError("A task that is called as a tool cannot write the context; return what rules shall act on.")

    def clear_context(self, key: str) -> None:
        """Raises TypeError."""
        self.set_context(key, None)

    def set_input_param(self, key: str, value: Any) -> None:
        """Raises TypeError."""
        self.set_context(key, value)


def run(job: Job) -> ToolAnswer:
    """What the task returns. Raises ToolFault NO_TASK, TASK_FAILED or a code that the task gave; TimeoutError."""
    method = _method(job)
    call = ToolTaskCall(
        plain(session_dict(job.session)),
        copy.deepcopy(dict(job.session.context)),
        copy.deepcopy(dict(job.session.input_params)),
        idempotency_key=idempotency_key(job.session.conversation_id, job.session.turn_no, job.tool_code, job.args),
        args=copy.deepcopy(dict(job.args)),
    )
    timeout = settings.read(job.snapshot, ACTION_TIMEOUT_MS).value
    value = call_within(timeout, lambda: method(call), connections.close_all)
    if isinstance(value, TaskResult):
        if not value.ok:
            raise ToolFault(value.code or "TASK_FAILED", value.message or "The task says that it failed.")
        value = value.data
    if value is False:
        raise ToolFault("TASK_FAILED", "The task returned False.")
    return ToolAnswer(strict(value))


def _method(job: Job) -> Callable[..., Any]:
    tasks = job.registry.tasks
    task, _, method = job.tool_code.rpartition(".")
    for name, wanted in ((job.tool_code, (job.tool_code, "run")), (task, (method,))):
        entry = tasks.get(name)
        found = next((entry.methods[each] for each in wanted if each in entry.methods), None) if entry else None
        if found is not None:
            return found
    known = ", ".join(sorted(f"{name}.{each}" for name, entry in tasks.items() for each in entry.methods)) or "none"
    raise ToolFault("NO_TASK", f"No task is registered for {job.tool_code or 'a group alone'}. Registered: {known}.")
