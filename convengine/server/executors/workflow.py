"""The executor of group WORKFLOW_ACTION: a registered task, called with arguments.

The tool's code is the task's name, or `task.method`.
"""

import copy
from collections.abc import Callable
from typing import Any

from django.db import connections

from convengine.engine.steps.actions.pending_action import ACTION_TIMEOUT_MS
from convengine.engine.text.wording import join_names
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import to_plain, to_strict
from convengine.engine.turn.facts import collect_extension_facts
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.http_client import idempotency_key
from convengine.server.executors.job import ToolJob
from convengine.server.extensions.bounded import call_within
from convengine.server.extensions.tasks import TaskCall, TaskResult


class ToolTaskCall(TaskCall):
    """The call of a task as a tool; its result is its return value."""

    def set_context(self, key: str, value: Any) -> None:
        raise TypeError("A task that is called as a tool cannot write the context. Return the values that rules need.")

    def clear_context(self, key: str) -> None:
        self.set_context(key, None)

    def set_input_param(self, key: str, value: Any) -> None:
        self.set_context(key, value)


def run(job: ToolJob) -> ToolAnswer:
    """The task's result. Raises ToolFault NO_TASK, TASK_FAILED or the task's own code; TimeoutError."""
    method = _find_method(job)
    call = ToolTaskCall(
        to_plain(collect_extension_facts(job.session)),
        copy.deepcopy(dict(job.session.context)),
        copy.deepcopy(dict(job.session.input_params)),
        idempotency_key=idempotency_key(job.session.conversation_id, job.session.version, job.tool_code, job.args),
        args=copy.deepcopy(dict(job.args)),
    )
    timeout = live_settings.read(job.snapshot, ACTION_TIMEOUT_MS).value
    value = call_within(timeout, lambda: method(call), connections.close_all)
    if isinstance(value, TaskResult):
        if not value.ok:
            raise ToolFault(value.code or "TASK_FAILED", value.message or "The task says that it failed.")
        value = value.data
    if value is False:
        raise ToolFault("TASK_FAILED", "The task returned False.")
    return ToolAnswer(to_strict(value))


def _find_method(job: ToolJob) -> Callable[..., Any]:
    """The method that a tool's code names: `run` or the function of a task, else `task.method`.

    Raises ToolFault NO_TASK.
    """
    tasks = job.registry.tasks
    task, _, method = job.tool_code.rpartition(".")
    for name, wanted in ((job.tool_code, (job.tool_code, "run")), (task, (method,))):
        entry = tasks.get(name)
        function = next((entry.methods[each] for each in wanted if each in entry.methods), None) if entry else None
        if function is not None:
            return function
    known = join_names(f"{name}.{each}" for name, entry in tasks.items() for each in entry.methods)
    raise ToolFault("NO_TASK", f"No task is registered for {job.tool_code or 'a group alone'}. Registered: {known}.")
