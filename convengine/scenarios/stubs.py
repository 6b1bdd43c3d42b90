"""The stubs of a scenario: tasks, containers, a model and tools that answer as the file says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from convengine.engine.llm.scripted import ScriptedModel
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.turn.ports import ContainerRequest
from convengine.scenarios.scenario import ContainerStub, Scenario, TaskStub
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.wiring import OutsideWorld

Json = Any
S = TypeVar("S", TaskStub, ContainerStub)


class ScriptedFailure(Exception):
    """A task or a container fails because the file says so."""


@dataclass
class ScenarioStubs:
    """The stubs of one scenario, and the calls of the current turn."""

    registry: Registry
    model: ScriptedModel
    tools: ScriptedTools
    #: (task, method) of every call that reached a stub, in order.
    task_calls: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, user_text: str | None) -> None:
        """A turn begins: forget earlier calls."""
        self.model.user_text = user_text or ""
        for calls in (self.model.calls, self.model.unscripted, self.tools.calls, self.tools.unscripted):
            calls.clear()
        self.task_calls.clear()

    @property
    def unscripted(self) -> list[str]:
        """Calls of a model or a tool without an answer in the script."""
        return [*self.model.unscripted, *self.tools.unscripted]

    @property
    def outside(self) -> OutsideWorld:
        """The replaced outside world."""
        return OutsideWorld(self.registry, self.model, self.tools, ScriptedServers(self.tools))


def build_stubs(scenario: Scenario) -> ScenarioStubs:
    """The unused stubs of a scenario."""
    made = ScenarioStubs(
        Registry(), ScriptedModel(scenario.llm, configured=scenario.model), ScriptedTools(scenario.tools)
    )
    for bean in dict.fromkeys(stub.bean for stub in scenario.tasks):
        made.registry.add_task(bean, _entry([stub for stub in scenario.tasks if stub.bean == bean], made.task_calls))
    for address in dict.fromkeys(_address(stub) for stub in scenario.containers):
        stub_queue = _Queue([stub for stub in scenario.containers if _address(stub) == address])
        made.registry.providers[address] = _provider(stub_queue)
    return made


class _Queue(Generic[S]):
    """Stubs of one thing: the first that is not used up answers."""

    def __init__(self, stubs: Sequence[S]) -> None:
        self._left: list[list[Any]] = [[stub, stub.times] for stub in stubs]

    def next(self) -> S:
        """The stub that answers this call. Raises ScriptedFailure when all are used up."""
        for entry in self._left:
            stub, times = entry
            if times != 0:
                entry[1] = None if times is None else times - 1
                answering: S = stub
                return answering
        raise ScriptedFailure("The script has no answer left to this call.")


def _address(stub: ContainerStub) -> tuple[int, int, int]:
    return stub.page_id, stub.section_id, stub.container_id


def _entry(stubs: Sequence[TaskStub], calls: list[tuple[str, str]]) -> TaskEntry:
    methods = {stub.method: _Queue([other for other in stubs if other.method == stub.method]) for stub in stubs}
    return TaskEntry({name: _method(queue, calls) for name, queue in methods.items()}, allow_from_context=True)


def _method(stubs: _Queue[TaskStub], calls: list[tuple[str, str]]) -> Callable[[TaskCall], Json]:
    def run(call: TaskCall) -> Json:
        stub = stubs.next()
        calls.append((stub.bean, stub.method))
        for key, value in stub.sets_context.items():
            call.set_context(key, value)
        if stub.raises is not None:
            raise ScriptedFailure(stub.raises)
        return stub.returns

    return run


def _provider(stubs: _Queue[ContainerStub]) -> Callable[[ContainerRequest, Json], Json]:
    def fetch(request: ContainerRequest, session: Json) -> Json:
        stub = stubs.next()
        if stub.error is not None:
            raise ScriptedFailure(stub.error)
        return stub.result

    return fetch
