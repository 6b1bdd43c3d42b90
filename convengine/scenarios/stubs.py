"""The outside world of a scenario: tasks, containers, a model and tools that answer as the file says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.domain.ports import ContainerRequest
from convengine.extensions.registry import Registry, TaskEntry
from convengine.extensions.tasks import TaskCall
from convengine.llm.scripted import ScriptedModel
from convengine.scenarios.scenario import ContainerStub, Scenario, TaskStub
from convengine.tools.scripted import ScriptedServers, ScriptedTools
from convengine.wiring import Outside

Json = Any


class ScriptedFailure(Exception):
    """A task or a container fails because the file says so."""


@dataclass
class Stage:
    """The stubs of one scenario, and what was called in the turn that runs."""

    registry: Registry
    model: ScriptedModel
    tools: ScriptedTools
    #: (task, method) of every call that reached a stub, in order.
    task_calls: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, user_text: str | None) -> None:
        """A turn begins: nothing was called in it yet."""
        self.model.user_text = user_text or ""
        for calls in (self.model.calls, self.model.unscripted, self.tools.calls, self.tools.unscripted):
            calls.clear()
        self.task_calls.clear()

    @property
    def unscripted(self) -> list[str]:
        """Calls of a model or a tool that the script has no answer to."""
        return [*self.model.unscripted, *self.tools.unscripted]

    @property
    def outside(self) -> Outside:
        """What the ports lead to meanwhile."""
        return Outside(self.registry, self.model, self.tools, ScriptedServers(self.tools))


def stage(scenario: Scenario) -> Stage:
    """The stubs of a scenario, none of them called yet."""
    made = Stage(Registry(), ScriptedModel(scenario.llm), ScriptedTools(scenario.tools))
    for bean in dict.fromkeys(stub.bean for stub in scenario.tasks):
        made.registry.add_task(bean, _entry([stub for stub in scenario.tasks if stub.bean == bean], made.task_calls))
    for stub in reversed(scenario.containers):
        made.registry.providers[stub.page_id, stub.section_id, stub.container_id] = _provider(stub)
    return made


def _entry(stubs: Sequence[TaskStub], calls: list[tuple[str, str]]) -> TaskEntry:
    return TaskEntry({stub.method: _method(stub, calls) for stub in reversed(stubs)}, allow_from_context=True)


def _method(stub: TaskStub, calls: list[tuple[str, str]]) -> Callable[[TaskCall], Json]:
    def run(call: TaskCall) -> Json:
        calls.append((stub.bean, stub.method))
        for key, value in stub.sets_context.items():
            call.set_context(key, value)
        if stub.raises is not None:
            raise ScriptedFailure(stub.raises)
        return stub.returns

    return run


def _provider(stub: ContainerStub) -> Callable[[ContainerRequest, Json], Json]:
    def fetch(request: ContainerRequest, session: Json) -> Json:
        if stub.error is not None:
            raise ScriptedFailure(stub.error)
        return stub.result

    return fetch
