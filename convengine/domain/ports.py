"""What a turn asks of the world, as protocols (style 1, law 2).

Each has a live form and works on a `Tape`, so that a stored turn can run again from its recording. A port never
raises for a fault of the thing behind it: the fault is part of the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from convengine.domain.conversation import Loaded
from convengine.domain.rows import Rule
from convengine.domain.session import Session

Json = Any


class Clock(Protocol):
    """The one clock (R88)."""

    def now(self) -> datetime:
        """The time of the turn's first statement, in UTC; the same value for the whole turn."""

    def elapsed_ms(self) -> float:
        """Milliseconds since the turn began, from a monotonic clock."""


@dataclass(frozen=True)
class TaskAnswer:
    """What a task method did."""

    #: What it returned, as JSON.
    value: Json = None
    #: Context fields it wrote, and names it removed.
    context: Mapping[str, Json] = field(default_factory=dict)
    context_removed: Sequence[str] = ()
    #: Input params it wrote.
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Type and text of the exception it raised, null when it ended well.
    error_type: str | None = None
    error_message: str | None = None

    @property
    def failed(self) -> bool:
        """True when the method raised."""
        return self.error_type is not None


class TaskPort(Protocol):
    """Registered tasks, by name."""

    def methods(self, task: str) -> Sequence[str] | None:
        """The method names of a registered task; null when there is no such task."""

    def run(self, task: str, method: str, session: Session, rule: Rule | None = None) -> TaskAnswer:
        """Run one method of a registered task."""


@dataclass(frozen=True)
class ContainerRequest:
    """What a container provider is asked for (pipeline-2 1.1)."""

    page_id: int
    section_id: int
    container_id: int
    input_params: Mapping[str, Json]
    conversation_id: str = ""
    intent: str = ""
    state: str = ""


@dataclass(frozen=True)
class ContainerAnswer:
    """What a container provider gave."""

    value: Json = None
    error_type: str | None = None
    error_message: str | None = None


class ContainerPort(Protocol):
    """Registered container providers."""

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Ask the provider that is registered for the request's address."""


@dataclass(frozen=True)
class LlmRequest:
    """One question to a model (pipeline-2 15.1)."""

    purpose: str
    system: str
    user: str
    context_json: str = "{}"
    json_schema: Json = None
    temperature: float | None = None


@dataclass(frozen=True)
class LlmAnswer:
    """A model's answer, or why there is none."""

    text: str = ""
    provider: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    error_code: str | None = None
    error_message: str | None = None


class ModelPort(Protocol):
    """A language model."""

    @property
    def configured(self) -> bool:
        """False when the deployment has no model: nothing may be asked then (law 6)."""

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Ask the model."""


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's result, or its fault."""

    result: Json = None
    error_type: str | None = None
    error_message: str | None = None


class ToolPort(Protocol):
    """Executors of tools."""

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        """Run a tool of a group with arguments."""


class ConversationPort(Protocol):
    """Where the past of a conversation comes from. Read once, at the start of the turn."""

    def load(self) -> Loaded:
        """The conversation under this turn's lease, its recent history, its recalled memory."""

    def store(self) -> None:
        """Insert the row if it is not there. Raises ConversationPersistFailed when the database fails."""


@dataclass(frozen=True)
class Ports:
    """Everything that a turn may ask."""

    clock: Clock
    conversations: ConversationPort
    tasks: TaskPort
    containers: ContainerPort
    model: ModelPort
    tools: ToolPort
