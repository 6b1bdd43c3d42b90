"""The composition root: one Engine and its ports, built from the settings."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module

import structlog
from django.db import connections
from django.utils.module_loading import import_string

from convengine import conf
from convengine.domain.ports import Clock, ConversationPort, LikenessPort, ModelPort, Ports, ServerPort, ToolPort
from convengine.domain.recording import Tape
from convengine.domain.snapshot import Snapshot
from convengine.domain.verbose import VerboseLine, VerboseListener
from convengine.executors import mcp_server
from convengine.executors.port import BuiltInTools
from convengine.extensions.containers import Containers
from convengine.extensions.memories import Memories
from convengine.extensions.registry import Registry, registry
from convengine.extensions.tasks import Tasks
from convengine.extensions.timed_tools import TimedTools
from convengine.extensions.tools import RegisteredTools
from convengine.extensions.transformers import ResponseTransformers
from convengine.llm.connections import ECHO, Connections, read_connections
from convengine.llm.echo import EchoModel
from convengine.llm.none import NoModel
from convengine.llm.openai_model import OpenAiModel
from convengine.llm.taped import TapedLikeness, TapedModel
from convengine.llm.vectors import WordVectors
from convengine.mcp_client.servers import McpServers
from convengine.pipeline.engine import Engine
from convengine.pipeline.hooks import Hooks
from convengine.pipeline.order import DEFAULT_PIPELINE, ordered
from convengine.pipeline.step import Step
from convengine.sessions.executions import Executions
from convengine.tools.pace import TapedPace
from convengine.tools.taped import TapedServers, TapedTools

log = structlog.get_logger(__name__)


@cache
def models() -> Connections:
    """The models of this deployment. Raises ConnectionInvalid."""
    return read_connections(conf.get("MODELS"))


@cache
def model() -> ModelPort:
    """The model of this process."""
    found = models()
    if not found.all:
        return NoModel()
    return EchoModel() if found.all[0].provider == ECHO else reach(found)


def reach(found: Connections) -> OpenAiModel:
    """The models behind these connections. Whoever waits for one holds no database connection."""
    return OpenAiModel(found, _release_connections, lambda conversation: conf.load("AUDIT_WRITER").spent(conversation))


def _release_connections() -> None:
    """Give every database connection back that is not in the middle of a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


@dataclass(frozen=True)
class Outside:
    """What the ports of a turn lead to: registered code, a model, executors of tools."""

    registry: Registry = field(default_factory=lambda: registry)
    model: ModelPort = field(default_factory=model)
    #: Null for the tools of the registry.
    tools: ToolPort | None = None
    #: Null for the servers that the deployment lets be reached.
    servers: ServerPort | None = None
    likeness: LikenessPort = field(default_factory=WordVectors)


_instead: ContextVar[Outside | None] = ContextVar("outside", default=None)


@contextmanager
def using(outside: Outside) -> Iterator[None]:
    """Let the turns of this thread meet another outside world for a while: a scripted one, in scenarios and tests."""
    token = _instead.set(outside)
    try:
        yield
    finally:
        _instead.reset(token)


def is_replaced() -> bool:
    """True while the turns of this thread meet another outside world than the deployment's."""
    return _instead.get() is not None


@cache
def load_extensions() -> None:
    """Import the modules that register the deployment's tasks, providers and hooks."""
    for module in conf.get("EXTENSIONS"):
        import_module(module)


def steps() -> Sequence[Step]:
    """The built-in steps and the deployment's, in order. Raises PipelineConstraintViolation."""
    return ordered(
        [*(import_string(path)() for path in DEFAULT_PIPELINE), *(step() for step in conf.load_all("STEPS"))]
    )


@cache
def engine() -> Engine:
    """The engine of this process."""
    load_extensions()
    return Engine(steps(), Hooks([*(hook() for hook in conf.load_all("HOOKS")), *registry.hooks]))


def ports(
    clock: Clock, conversations: ConversationPort, tape: Tape, snapshot: Snapshot, workspace: str = "default"
) -> Ports:
    """The ports of one turn: live behind a Recording, answering from the past behind a Playback.

    `snapshot` is the turn's own: tools look into it for what stands behind them; in `workspace` they search documents.
    """
    load_extensions()
    outside = _instead.get() or Outside()
    return Ports(
        clock=clock,
        conversations=conversations,
        tasks=Tasks(outside.registry, tape, connections.close_all, _release_connections),
        executions=Executions(tape),
        containers=Containers(outside.registry, tape, connections.close_all, _release_connections),
        model=TapedModel(outside.model, tape),
        likeness=TapedLikeness(outside.likeness, tape),
        tools=TapedTools(
            TimedTools(
                outside.tools or _tools(outside.registry, snapshot, workspace),
                connections.close_all,
                _release_connections,
            ),
            tape,
        ),
        servers=TapedServers(
            outside.servers or McpServers(mcp_server.policy(), waiting=_release_connections),
            tape,
        ),
        pace=TapedPace(clock, tape, _pause),
        memory=Memories(outside.registry, tape),
        transformers=ResponseTransformers(outside.registry, tape),
    )


def verbose_listeners() -> tuple[VerboseListener, ...]:
    """Who hears the progress of a turn. What a listener raises is logged; neither turn nor other listeners notice."""
    return tuple(partial(_heard, one) for one in (*conf.load_all("VERBOSE_LISTENERS"), *registry.verbose_listeners))


def _heard(listener: VerboseListener, line: VerboseLine) -> None:
    try:
        listener(line)
    except Exception as fault:
        log.warning("progress not heard", error=str(fault), exc_info=fault)


def _pause(seconds: float) -> None:
    _release_connections()
    time.sleep(seconds)


def _tools(registry: Registry, snapshot: Snapshot, workspace: str) -> ToolPort:
    built_in = BuiltInTools(snapshot, registry, workspace=workspace)
    return RegisteredTools(registry, connections.close_all, built_in, built_in.make_call)
