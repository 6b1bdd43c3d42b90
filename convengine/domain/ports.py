"""What a turn asks of the world, as protocols (style 1, law 2).

Each has a live form and works on a `Tape`, so that a stored turn can run again from its recording. A port never
raises for a fault of the thing behind it: the fault is part of the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from convengine.domain.conversation import Loaded
from convengine.domain.payload import Payload
from convengine.domain.rows import McpServer, Rule
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
    #: Type and text of the exception it raised, or what it said of its failure; null when it ended well.
    error_type: str | None = None
    error_message: str | None = None
    #: NULL_RESULT or RETURNED_FALSE: a bare nothing, or `False`, which for a confirmed action is a failure (2.3).
    refusal: str | None = None

    @property
    def failed(self) -> bool:
        """True when the method raised, or said that it failed."""
        return self.error_type is not None


@dataclass(frozen=True)
class ActionRun:
    """For which confirmed action a task runs, and how long each of its methods may take."""

    idempotency_key: str
    timeout_ms: int


class TaskPort(Protocol):
    """Registered tasks, by name."""

    def methods(self, task: str) -> Sequence[str] | None:
        """The method names of a registered task; null when there is no such task."""

    def names(self) -> Sequence[str]:
        """The names of all registered tasks; asked only to tell somebody what there is."""

    def allowed_from_context(self, task: str) -> bool:
        """True when what the context names may run this task (pipeline-2 2.1)."""

    def run(
        self, task: str, method: str, session: Session, rule: Rule | None = None, action: ActionRun | None = None
    ) -> TaskAnswer:
        """Run one method of a registered task, for a rule or for a confirmed action."""


@dataclass(frozen=True)
class ExecutionClaim:
    """The right to run an opened action: one for each conversation and nonce, whoever asks (R81)."""

    conversation_id: str
    turn_id: str
    nonce: str
    action_key: str
    action_ref: str
    #: What was confirmed, as a digest.
    request_hash: str


@dataclass(frozen=True)
class Execution:
    """What became of a claim."""

    #: True when it was made now: the task may run. False when an earlier turn had made it.
    claimed: bool
    execution_id: int
    #: CLAIMED, EXECUTED or FAILED.
    status: str
    #: What the earlier turn stored when its task had ended.
    result: Json = None
    request_hash: str = ""
    #: Of the earlier opening of the action that was found left CLAIMED; null when it is the claim's own.
    other_nonce: str | None = None


class ExecutionPort(Protocol):
    """The book of executed actions. Both calls stand at once, whatever becomes of the turn (pipeline-2 2.4)."""

    def claim(self, claim: ExecutionClaim) -> Execution:
        """Make the claim, or find it made. Raises ConversationPersistFailed: without a claim nothing may run."""

    def finish(self, claim: ExecutionClaim, status: str, result: Json) -> None:
        """Note how the run ended. Raises ConversationPersistFailed; the claim then stays open."""


@dataclass
class ContainerRequest:
    """What a container provider is asked for (pipeline-2 1.1). An interceptor may change it before it is sent."""

    page_id: int
    section_id: int
    container_id: int
    input_params: dict[str, Json]
    user_id: str = "convengine"
    logged_in_user_id: str = "convengine"
    request_types: tuple[str, ...] = ("CONTAINER",)
    conversation_id: str = ""
    intent: str = ""
    state: str = ""
    #: How long the fetch may take, and how large its result may be.
    timeout_ms: int = 3000
    max_bytes: int = 65_536


@dataclass(frozen=True)
class ContainerAnswer:
    """What a container provider gave, interceptors and transformer included."""

    value: Json = None
    error_type: str | None = None
    error_message: str | None = None
    duration_ms: int = 0
    #: The input params that were really sent; null when nothing changed them.
    sent: Mapping[str, Json] | None = None


class ContainerPort(Protocol):
    """Registered container providers."""

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Ask the provider that is registered for the request's address."""


@dataclass(frozen=True)
class LlmRequest:
    """One question to a model (pipeline-2 15.1), with the bounds that the turn sets it."""

    purpose: str
    system: str
    user: str
    #: What the model is given as data, as JSON text; `{}` for nothing.
    context_json: str = "{}"
    #: The schema of the answer, or null for an answer in plain text.
    json_schema: Json = None
    #: The service is asked to keep the schema to the letter.
    strict: bool = False
    temperature: float | None = None
    #: Which model; blank for the deployment's default.
    model: str = ""
    #: How long one try may take, how long all may take together, and how many there may be.
    timeout_ms: int = 20_000
    total_ms: int = 30_000
    max_attempts: int = 1


@dataclass(frozen=True)
class LlmAnswer:
    """A model's answer, or why there is none."""

    text: str = ""
    provider: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    #: By the deployment's prices; null when the model has none.
    cost: float | None = None
    error_code: str | None = None
    error_message: str | None = None
    #: The tries that failed before this one, in order.
    earlier: "tuple[LlmAnswer, ...]" = ()

    @property
    def attempts(self) -> "tuple[LlmAnswer, ...]":
        """Every try, the last one included."""
        return (*self.earlier, self)


@dataclass(frozen=True)
class ModelCall:
    """One try of one question, as the call log keeps it (pipeline-2 15.2)."""

    request: LlmRequest
    answer: LlmAnswer
    #: 1, 2, 3 … within one question.
    attempt: int
    intent: str | None
    state: str | None
    template_id: int | None
    #: Milliseconds since the turn began, when the answer was there.
    at_ms: float


class ModelPort(Protocol):
    """A language model."""

    @property
    def configured(self) -> bool:
        """False when the deployment has no model: nothing may be asked then (law 6)."""

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Ask the model."""

    def allows(self, name: str) -> bool:
        """True when the deployment still has a model of this name, which a session once chose."""

    def spent(self, conversation_id: str) -> float:
        """What the calls of a conversation's earlier turns have cost, in the currency of the prices."""


@dataclass(frozen=True)
class LikenessAnswer:
    """How alike a text is to each of several others, from 0 to 1; or why nobody can say."""

    scores: tuple[float, ...] = ()
    #: What the vectors come from.
    model: str = ""
    error_message: str | None = None


class LikenessPort(Protocol):
    """Sentence vectors: what texts mean, rather than which letters they have."""

    def likeness(self, text: str, others: Sequence[str]) -> LikenessAnswer:
        """The likeness of `text` to each of the others, in their order."""


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's result, or its fault."""

    result: Json = None
    error_type: str | None = None
    error_message: str | None = None
    #: What only the executor can tell, as payloads by stage (MCP_DB_SQL_EXECUTION).
    told: Mapping[str, Json] = field(default_factory=dict)


class ToolPort(Protocol):
    """Executors of tools."""

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        """Run a tool of a group with arguments."""


class TimedToolPort(Protocol):
    """Executors of tools as a turn calls them."""

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Json],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        """Run a tool of a group with arguments. `within_ms`: how long the turn waits, beside the tool's own limit."""


@dataclass(frozen=True)
class ServerTools:
    """The tools of an external MCP server as it lists them, or why there are none."""

    #: Each {name, description?, inputSchema, annotations?}.
    tools: Sequence[Json] = ()
    error_type: str | None = None
    error_message: str | None = None


class ServerPort(Protocol):
    """What external MCP servers offer (pipeline-2 4.9). Their tools are called like any other."""

    def tools(self, server: McpServer) -> ServerTools:
        """The tools that a server lists."""


@dataclass(frozen=True)
class StoreFault:
    """A memory store that failed."""

    store: str
    error_type: str
    error_message: str


@dataclass(frozen=True)
class MemoryAnswer:
    """What the memory stores said: a text that was read, the stores that answered, those that failed."""

    text: str | None = None
    stores: tuple[str, ...] = ()
    faults: tuple[StoreFault, ...] = ()


class MemoryPort(Protocol):
    """Registered memory stores, in the order of their registration."""

    def read(self, session: Session) -> MemoryAnswer:
        """What the first store says that says anything."""

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store."""


@dataclass(frozen=True)
class TransformAnswer:
    """What a response transformer made of an answer; all null when none applies or nothing was changed."""

    payload: Payload | None = None
    transformer: str | None = None
    error_type: str | None = None
    error_message: str | None = None


class TransformerPort(Protocol):
    """Registered response transformers."""

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        """Let the transformer of a stage (LLM, FINAL) that fits intent and state change the answer."""


class ConversationPort(Protocol):
    """Where the past of a conversation comes from. Read once, at the start of the turn."""

    def load(self) -> Loaded:
        """The conversation under this turn's lease, its recent history, its recalled memory."""

    def store(self) -> None:
        """Insert the row if it is not there. Raises ConversationPersistFailed when the database fails."""


class Pace(Protocol):
    """Time as far as a decision depends on it."""

    def spent_ms(self) -> float:
        """Milliseconds since the turn began; in a replay, as many as then."""

    def wait(self, milliseconds: float) -> None:
        """Let some time go by; in a replay, none."""


@dataclass(frozen=True)
class Ports:
    """Everything that a turn may ask."""

    clock: Clock
    conversations: ConversationPort
    tasks: TaskPort
    executions: ExecutionPort
    containers: ContainerPort
    model: ModelPort
    likeness: LikenessPort
    tools: TimedToolPort
    servers: ServerPort
    pace: Pace
    memory: MemoryPort
    transformers: TransformerPort
