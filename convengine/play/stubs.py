"""The stubs of a scenario: tasks, containers, a model and tools that answer as the file says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from convengine.engine.llm.scripted import NO_ANSWER
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.turn.payload import Payload
from convengine.engine.turn.ports import ContainerRequest, ModelPort, TimedToolPort, ToolAnswer
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.json_value import Json
from convengine.play.recorded_model import ModelRecording, TestModel
from convengine.play.scenario import REAL, ContainerStub, Scenario, ScenarioTurn, TaskStub, TransformerStub
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, TaskEntry, Transformer, registry
from convengine.server.extensions.tasks import TaskCall, TaskResult
from convengine.server.wiring import OutsideWorld

S = TypeVar("S", TaskStub, ContainerStub)


class ScriptedFailure(Exception):
    """A task or a container fails because the file says so: nobody has to look for the reason."""

    is_scripted = True


@dataclass
class ScenarioStubs:
    registry: Registry
    model: TestModel
    tools: ScriptedTools
    #: Calls that no stub answers go to the extensions of the installation.
    is_real: bool = False
    #: The transformers of the installation by stage; none with stubs alone.
    transformers: Mapping[str, Sequence[Transformer]] = field(default_factory=dict)

    def begin(self, turn: ScenarioTurn) -> None:
        """Prepare for a turn: install its transformers, and tell the model its message."""
        self.model.user_text = turn.user or ""
        for stage, transformers in self.registry.response_transformers.items():
            answers = [stub for stub in turn.transformers if stub.stage == stage]
            transformers[:] = [_make_transformer(answers)] if answers else self.transformers.get(stage, ())

    def add_task(self, stub: TaskStub) -> None:
        """Let one more stub answer for a method of a task, before earlier ones and the real one."""
        entry = self.registry.tasks.get(stub.bean)
        known = entry.methods if entry else {}
        methods = {**known, stub.method: _make_method(_Queue([stub]), known.get(stub.method))}
        self.registry.tasks[stub.bean] = TaskEntry(methods, allow_from_context=True)

    def add_task_function(self, task: str, method: str, run: Callable[[TaskCall], Json]) -> None:
        """Let a function answer for a method of a task, in place of the real one."""
        entry = self.registry.tasks.get(task)
        self.registry.tasks[task] = TaskEntry({**(entry.methods if entry else {}), method: run})

    def add_container(self, stub: ContainerStub) -> None:
        """Let a stub answer for an address, in place of the real provider."""
        self.registry.providers[_get_address(stub)] = _make_provider(_Queue([stub]))

    @property
    def outside(self) -> OutsideWorld:
        if not self.is_real:
            return OutsideWorld(self.registry, self.model, self.tools, ScriptedServers(self.tools))
        return OutsideWorld(self.registry, self.model, around_tools=lambda tools: ToolsBehindStubs(self.tools, tools))


@dataclass
class ToolsBehindStubs:
    """The stubs answer first; then the tools of the installation."""

    stubs: ScriptedTools
    tools: TimedToolPort

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Json],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        if self.stubs.has_answer(tool_code, tool_group, args):
            return self.stubs.run(tool_code, tool_group, args, session)
        return self.tools.run(tool_code, tool_group, args, session, within_ms)


def build_stubs(scenario: Scenario, *, live: ModelPort | None = None) -> ScenarioStubs:
    """The unused stubs of a scenario. `live` is the model that is asked what neither script nor recording answers.

    Raises ScenarioFileError for a recording that cannot be read.
    """
    recording = (
        ModelRecording.read(scenario.recording, may_be_new=live is not None) if scenario.recording is not None else None
    )
    model = TestModel(list(scenario.llm), configured=scenario.model or live is not None, recording=recording, live=live)
    stubs = ScenarioStubs(Registry(), model, ScriptedTools(list(scenario.tools)))
    if scenario.extensions == REAL:
        wiring.load_extensions()
        stubs.is_real = True
        stubs.registry = _copy_registry(registry)
        stubs.transformers = {stage: tuple(each) for stage, each in registry.response_transformers.items()}
    for bean in dict.fromkeys(stub.bean for stub in scenario.tasks):
        own = [stub for stub in scenario.tasks if stub.bean == bean]
        real = stubs.registry.tasks.get(bean)
        known = real.methods if real else {}
        entry = _make_entry(own, known)
        stubs.registry.tasks[bean] = replace(entry, methods={**known, **entry.methods})
    for address in dict.fromkeys(_get_address(stub) for stub in scenario.containers):
        stub_queue = _Queue([stub for stub in scenario.containers if _get_address(stub) == address])
        stubs.registry.providers[address] = _make_provider(stub_queue, stubs.registry.provider(*address))
    return stubs


def _copy_registry(real: Registry) -> Registry:
    """The registry of the installation; changes of the copy do not reach it."""
    return replace(
        real,
        tasks=dict(real.tasks),
        providers=dict(real.providers),
        tools=dict(real.tools),
        tool_groups=dict(real.tool_groups),
        finders=dict(real.finders),
        memory_stores=dict(real.memory_stores),
        response_transformers={stage: list(each) for stage, each in real.response_transformers.items()},
    )


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
        raise ScriptedFailure(NO_ANSWER)


def _get_address(stub: ContainerStub) -> tuple[int, int, int]:
    return stub.page_id, stub.section_id, stub.container_id


def _make_entry(stubs: Sequence[TaskStub], real: Mapping[str, Callable[[TaskCall], Json]]) -> TaskEntry:
    queues = {stub.method: _Queue([other for other in stubs if other.method == stub.method]) for stub in stubs}
    methods = {name: _make_method(queue, real.get(name)) for name, queue in queues.items()}
    return TaskEntry(methods, allow_from_context=True)


def _make_method(
    stubs: _Queue[TaskStub], otherwise: Callable[[TaskCall], Json] | None = None
) -> Callable[[TaskCall], Json]:
    """A task's method that answers by stubs; when all are used up, by `otherwise`, or it fails without that."""

    def run(call: TaskCall) -> Json:
        try:
            stub = stubs.next()
        except ScriptedFailure:
            if otherwise is None:
                raise
            return otherwise(call)
        for key, value in stub.sets_context.items():
            call.set_context(key, value)
        for key in stub.removes_context:
            call.clear_context(key)
        for key, value in stub.sets_params.items():
            call.set_input_param(key, value)
        if stub.raises is not None and stub.code is not None:
            return TaskResult(False, stub.code, stub.raises)
        if stub.raises is not None:
            raise ScriptedFailure(stub.raises)
        return stub.returns

    return run


def _make_provider(
    stubs: _Queue[ContainerStub], otherwise: Callable[[ContainerRequest, Json], Json] | None = None
) -> Callable[[ContainerRequest, Json], Json]:
    """A provider that answers by stubs; when all are used up, by `otherwise`, or it fails without that."""

    def fetch(request: ContainerRequest, session: Json) -> Json:
        try:
            stub = stubs.next()
        except ScriptedFailure:
            if otherwise is None:
                raise
            return otherwise(request, session)
        if stub.error is not None:
            raise _make_failure(stub.code, stub.error)
        return stub.result

    return fetch


def _make_failure(code: str | None, text: str) -> ScriptedFailure:
    """A failure whose class has the name of the recorded exception."""
    return ScriptedFailure(text) if code is None else type(code, (ScriptedFailure,), {})(text)


def _make_transformer(stubs: Sequence[TransformerStub]) -> Transformer:
    """A transformer that answers by stubs, each for one call; after them, answers stay as they are."""
    remaining = iter(stubs)

    def transform(payload: Payload, session: Json, input_params: Json) -> Json:
        stub = next(remaining, None)
        if stub is not None and stub.error is not None:
            raise _make_failure(stub.code, stub.error)
        return stub.result if stub else None

    return Transformer(stubs[0].name, ANY, ANY, transform)
