"""The composition root: one Engine and its ports, built from the settings."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module

import structlog
from django.db import connections
from django.utils.module_loading import import_string

from convengine.engine.pipeline.engine import Engine
from convengine.engine.pipeline.hooks import Hooks
from convengine.engine.pipeline.order import DEFAULT_PIPELINE, order_steps
from convengine.engine.pipeline.step import Step
from convengine.engine.turn.ports import (
    Clock,
    ConversationPort,
    ModelPort,
    Ports,
    ServerPort,
    TimedToolPort,
    ToolPort,
)
from convengine.engine.turn.recording import Tape, TapedDecisions, TapedModel, TapedPace, TapedServers, TapedTools
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine, VerboseListener
from convengine.engine.understanding.encoder import Vector, describe_encoder
from convengine.engine.understanding.onnx_encoder import load_onnx_encoder
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.finders import Finders
from convengine.server.extensions.ports import Containers, Memories, RegisteredTools, ResponseTransformers, TimedTools
from convengine.server.extensions.registry import Registry, registry
from convengine.server.extensions.tasks import Tasks
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.mcp_client.servers import McpServers, read_policy
from convengine.server.model_clients.connections import ECHO, Connections, read_connections
from convengine.server.model_clients.offline import EchoModel, NoModel
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.resilience.waiting import Overloaded, for_models, for_tools

log = structlog.get_logger(__name__)


@cache
def models() -> Connections:
    """The models of this deployment. Raises ConnectionInvalid."""
    return read_connections(conf.get("MODELS"))


@cache
def model() -> ModelPort:
    connections = models()
    if not connections.answering:
        return NoModel()
    return EchoModel() if connections.answering[0].provider == ECHO else make_model_client(connections)


@cache
def embedding_model() -> OpenAiModel:
    """What asks for vectors: the model of this process, or its own client if that asks no service."""
    current = model()
    return current if isinstance(current, OpenAiModel) else make_model_client(models())


def embed(name: str, texts: Sequence[str]) -> Sequence[Vector]:
    """A vector for each text by a model of the deployment. Raises EncoderUnavailable."""
    if folder := models().find_folder(name):
        return load_onnx_encoder(folder).encode(texts)
    return embedding_model().embed(name, texts)


def load_model() -> None:
    """Load the model's library before the first turn needs it."""
    current = model()
    if isinstance(current, OpenAiModel):
        current.load()
    elif models().all and not models().answering:
        embedding_model().load()


def make_model_client(connections: Connections) -> OpenAiModel:
    """The models behind these connections. A waiting turn holds neither a running slot nor a database connection."""
    return OpenAiModel(connections, for_models.hold, lambda conversation: turn_reader().sum_cost(conversation))


@dataclass(frozen=True)
class OutsideWorld:
    """What the ports of a turn lead to: registered code, a model, executors of tools."""

    registry: Registry = field(default_factory=lambda: registry)
    model: ModelPort = field(default_factory=model)
    #: None for the tools of the registry.
    tools: ToolPort | None = None
    #: None for the servers that the deployment allows.
    servers: ServerPort | None = None
    #: Put around the tools of each turn: in tests of a bot, stubs that answer before them.
    around_tools: Callable[[TimedToolPort], TimedToolPort] = lambda tools: tools
    #: Stands before the tape of each turn: to see its calls.
    around_tape: Callable[[Tape], Tape] = lambda tape: tape


_replacement: ContextVar[OutsideWorld | None] = ContextVar("outside", default=None)


@contextmanager
def replace_outside_world(outside: OutsideWorld) -> Iterator[None]:
    """Replace the outside world for the turns of this thread: in scenarios and tests."""
    token = _replacement.set(outside)
    try:
        yield
    finally:
        _replacement.reset(token)


def is_replaced() -> bool:
    return _replacement.get() is not None


@cache
def load_extensions() -> None:
    """Import the modules that register the deployment's tasks, providers and hooks."""
    for module in conf.get("EXTENSIONS"):
        import_module(module)


def steps() -> Sequence[Step]:
    """The built-in steps and the deployment's, in order. Raises PipelineConstraintViolation."""
    return order_steps(
        [*(import_string(path)() for path in DEFAULT_PIPELINE), *(step() for step in conf.load_all("STEPS"))]
    )


@cache
def engine() -> Engine:
    load_extensions()
    return Engine(steps(), Hooks([*(hook() for hook in conf.load_all("HOOKS")), *registry.hooks]))


def ports(
    clock: Clock,
    conversations: ConversationPort,
    tape: Tape,
    snapshot: Snapshot,
    workspace: str = "default",
    *,
    finder_kinds: Collection[str] | None = None,
) -> Ports:
    """The ports of one turn: live with a Recording, answered from the recording with a Playback.

    `snapshot` is the turn's own, for the rows of tools; documents are searched in `workspace`.
    `finder_kinds`: in a replay, the kinds of fields whose finders the turn asked.
    """
    load_extensions()
    outside = _replacement.get() or OutsideWorld()
    tape = outside.around_tape(tape)
    return Ports(
        clock=clock,
        conversations=conversations,
        tasks=Tasks(outside.registry, tape, connections.close_all, for_tools.hold),
        executions=Executions(tape),
        containers=Containers(outside.registry, tape, connections.close_all, for_tools.hold),
        model=TapedModel(outside.model, tape),
        learned=TapedDecisions(tape, describe_encoder()),
        tools=TapedTools(
            outside.around_tools(
                TimedTools(
                    outside.tools or _tools(outside.registry, snapshot, workspace),
                    connections.close_all,
                    for_tools.hold,
                    # Metrics count calls of real tools only.
                    is_measured=outside.tools is None,
                )
            ),
            tape,
        ),
        servers=TapedServers(
            outside.servers or McpServers(read_policy(), wait=for_tools.hold, outages=throttle),
            tape,
        ),
        pace=TapedPace(clock, tape, _pause),
        memory=Memories(outside.registry, tape, wait=for_tools.hold),
        # Most only compute. A slow tool must not leave an answer as it was.
        transformers=ResponseTransformers(outside.registry, tape, wait=partial(for_tools.hold, is_required=False)),
        finders=Finders(
            outside.registry, tape, connections.close_all, partial(for_tools.hold, is_required=False), finder_kinds
        ),
    )


def verbose_listeners() -> tuple[Callable[[Turn, VerboseLine], None], ...]:
    """The listeners of a turn's progress. Their exceptions are logged and affect neither the turn nor other
    listeners.
    """
    return tuple(
        partial(_call_listener, listener)
        for listener in (*conf.load_all("VERBOSE_LISTENERS"), *registry.verbose_listeners)
    )


def _call_listener(listener: VerboseListener, turn: Turn, line: VerboseLine) -> None:
    try:
        listener(line)
    except Exception as fault:
        log.warning("progress not heard", error=str(fault), exc_info=fault)


def _pause(seconds: float) -> None:
    """Pause before another attempt; not at all if too many wait already."""
    with suppress(Overloaded), for_tools.hold():
        time.sleep(seconds)


def _tools(registry: Registry, snapshot: Snapshot, workspace: str) -> ToolPort:
    built_in = BuiltInTools(snapshot, registry, workspace=workspace)
    return RegisteredTools(registry, connections.close_all, built_in, built_in.make_call)
