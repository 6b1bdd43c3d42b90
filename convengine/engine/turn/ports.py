"""The ports of a turn: protocols for everything outside.

Each has a live implementation and works with a `Tape`, so that a stored turn can run again from its recording. A port
never raises for a fault of the thing behind it; the answer contains the fault.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Protocol

from convengine.engine.turn.conversation import Loaded
from convengine.engine.turn.finder_port import FinderPort, NoFinders
from convengine.engine.turn.payload import Payload
from convengine.engine.turn.rows import McpServer, Rule
from convengine.engine.turn.session import Session
from convengine.json_value import Json


class Clock(Protocol):
    """The clock of a turn."""

    def now(self) -> datetime:
        """The time of the turn's first statement, in UTC; constant during the turn."""

    def elapsed_ms(self) -> float:
        """Milliseconds since the turn began, from a monotonic clock."""


@dataclass(frozen=True)
class TaskAnswer:
    """The result of a task method."""

    #: Its return value as JSON.
    value: Json = None
    #: Context fields that it wrote, and names that it removed.
    context: Mapping[str, Json] = field(default_factory=dict)
    context_removed: Sequence[str] = ()
    #: Input params it wrote.
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Type and text of the exception or of the reported failure; None on success.
    error_type: str | None = None
    error_message: str | None = None
    #: NULL_RESULT or RETURNED_FALSE: no value, or `False`, which for a confirmed action is a failure.
    refusal: str | None = None

    @property
    def failed(self) -> bool:
        """True when the method raised or reported a failure."""
        return self.error_type is not None


@dataclass(frozen=True)
class TaskRun:
    """The key of one run of a task, and the time limit of its methods, which the task of a rule does not have."""

    idempotency_key: str
    timeout_ms: int | None = None


class TaskPort(Protocol):
    """Registered tasks, by name."""

    def methods(self, task: str) -> Sequence[str] | None:
        """The method names of a registered task. Returns None if there is none."""

    def names(self) -> Sequence[str]:
        """The names of all registered tasks, for messages."""

    def allowed_from_context(self, task: str) -> bool:
        """True when the context may name this task."""

    def is_repeatable(self, task: str, methods: Sequence[str]) -> bool:
        """True when another run of these methods does no harm, so that a rule's run needs no claim."""

    def run(
        self, task: str, method: str, session: Session, rule: Rule | None = None, task_run: TaskRun | None = None
    ) -> TaskAnswer:
        """Run one method of a registered task, for a rule or for a confirmed action."""


@dataclass(frozen=True)
class ExecutionClaim:
    """The right to run an opened action, a tool or a rule's task: one per conversation and nonce."""

    conversation_id: str
    turn_id: str
    nonce: str
    action_key: str
    action_ref: str
    #: A digest of what was confirmed, or of what a rule's task reads.
    request_hash: str
    #: The result of a lost turn counts for the same request only. Any later yes means the same confirmed action.
    same_request_only: ClassVar[bool] = False


#: What the `action_key` of a rule's claims begins with; its number follows.
RULE_CLAIMANT = "rule:"


class RuleTaskClaim(ExecutionClaim):
    """The right to run the task of a rule."""

    same_request_only: ClassVar[bool] = True


@dataclass(frozen=True)
class Execution:
    """The state of a claim."""

    #: True when it was made now, so the task may run. False when an earlier turn made it.
    claimed: bool
    execution_id: int
    #: CLAIMED, EXECUTED or FAILED.
    status: str
    #: The stored result of the earlier turn.
    result: Json = None
    request_hash: str = ""
    #: The nonce of an earlier opening that was left CLAIMED, if it is not the claim's own.
    other_nonce: str | None = None


class ExecutionPort(Protocol):
    """Claims of actions, tools and tasks. Both calls commit at once, whatever happens to the turn."""

    def claim(self, claim: ExecutionClaim) -> Execution:
        """Make or find the claim. Raises ConversationPersistFailed: without a claim nothing may run."""

    def finish(self, claim: ExecutionClaim, status: str, result: Json) -> None:
        """Store the outcome. Raises ConversationPersistFailed; the claim then stays open."""


@dataclass
class ContainerRequest:
    """The request to a container provider. An interceptor may change it before it is sent."""

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
    #: Limits of the fetch: time and size.
    timeout_ms: int = 3000
    max_bytes: int = 65_536


@dataclass(frozen=True)
class ContainerAnswer:
    """A container provider's result, after interceptors and transformer."""

    value: Json = None
    error_type: str | None = None
    error_message: str | None = None
    duration_ms: int = 0
    #: The input params that were really sent; None if unchanged.
    sent: Mapping[str, Json] | None = None


class ContainerPort(Protocol):
    """Registered container providers."""

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Ask the provider of the request's address."""


@dataclass(frozen=True)
class LlmRequest:
    """One call of a model, with the limits of the turn."""

    purpose: str
    system: str
    user: str
    #: Data for the model as JSON text; `{}` for none.
    context_json: str = "{}"
    #: The schema of the answer. None for an answer in plain text.
    json_schema: Json = None
    #: The service must keep the schema exactly.
    strict: bool = False
    temperature: float | None = None
    #: The model's name; blank for the deployment's default.
    model: str = ""
    #: Time of one attempt, time of all attempts, and number of attempts.
    timeout_ms: int = 20_000
    total_ms: int = 30_000
    max_attempts: int = 1


@dataclass(frozen=True)
class LlmAnswer:
    """A model's answer, or its fault."""

    text: str = ""
    provider: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    #: Computed from the deployment's prices; None if the model has none.
    cost: float | None = None
    error_code: str | None = None
    error_message: str | None = None
    #: The failed attempts before this one, in order.
    earlier: "tuple[LlmAnswer, ...]" = ()

    @property
    def attempts(self) -> "tuple[LlmAnswer, ...]":
        """All attempts, including the last one."""
        return (*self.earlier, self)


@dataclass(frozen=True)
class ModelCall:
    """One attempt of one call, for the call log."""

    request: LlmRequest
    answer: LlmAnswer
    #: 1, 2, 3 … within one call.
    attempt: int
    intent: str | None
    state: str | None
    template_id: int | None
    #: Milliseconds from the start of the turn to the answer.
    at_ms: float
    #: The number of the event before it.
    seq: int = 0


class ModelPort(Protocol):
    """A language model."""

    @property
    def configured(self) -> bool:
        """False when the deployment has no model, so nothing may be asked."""

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Ask the model."""

    def allows(self, name: str) -> bool:
        """True when the deployment still has a model of this name."""

    def sum_cost(self, conversation_id: str) -> float:
        """The cost of a conversation's earlier turns, in the currency of the prices."""


class LearnedSubject(StrEnum):
    """What classifiers and the sentence encoder decide. The names are those of the recordings."""

    #: The intents that a message means, or may mean, by phrases.
    PHRASES = "phrases"
    #: Which move a clause is.
    MOVES = "moves"
    #: Whether a clause asks for information or wishes something.
    ASKS = "asks"
    #: Whether a field takes whole sentences or a few words.
    TEXTS = "texts"
    #: The options of a choice that words mean.
    OPTIONS = "options"
    #: The sections of documents that answer a message.
    DOCUMENTS = "documents"
    #: The language of a message.
    LANGUAGE = "language"


class LearnedPort(Protocol):
    """What is learned decides in this process. It is recorded with its figures, so that a replay needs no encoder."""

    def decide(self, subject: LearnedSubject, request: Json, compute: Callable[[], Json]) -> Json:
        """The answer of `compute`, or the recorded one. `request` names all that it depends on but the encoder."""


class UnrecordedDecisions:
    """The port that computes and records nothing."""

    def decide(self, subject: LearnedSubject, request: Json, compute: Callable[[], Json]) -> Json:
        """The answer of `compute`."""
        return compute()


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's result, or its fault."""

    result: Json = None
    error_type: str | None = None
    error_message: str | None = None
    #: What only the executor knows, as payloads by stage (MCP_DB_SQL_EXECUTION).
    stage_payloads: Mapping[str, Json] = field(default_factory=dict)


class ToolPort(Protocol):
    """Executors of tools."""

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        """Run a tool of a group with arguments."""


class TimedToolPort(Protocol):
    """Executors of tools, with a time limit."""

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Json],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        """Run a tool of a group with arguments. `within_ms`: how long the turn waits, besides the tool's own limit."""


@dataclass(frozen=True)
class ServerTools:
    """The tools of an external MCP server, or the fault."""

    #: Each {name, description?, inputSchema, annotations?}.
    tools: Sequence[Json] = ()
    error_type: str | None = None
    error_message: str | None = None


class ServerPort(Protocol):
    """The tools of external MCP servers, which are called like any other."""

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
    """The result of the memory stores: the text, the stores that answered, those that failed."""

    text: str | None = None
    stores: tuple[str, ...] = ()
    faults: tuple[StoreFault, ...] = ()


class MemoryPort(Protocol):
    """Registered memory stores, in order of registration."""

    def read(self, session: Session) -> MemoryAnswer:
        """The text of the first store that returns one."""

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store."""


@dataclass(frozen=True)
class TransformAnswer:
    """The result of a response transformer; without a payload if none applies or it changed nothing."""

    payload: Payload | None = None
    transformer: str | None = None
    error_type: str | None = None
    error_message: str | None = None


class TransformerPort(Protocol):
    """Registered response transformers."""

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        """Run the transformer of a stage (LLM, FINAL) for the intent and state."""


class ConversationPort(Protocol):
    """The stored conversation, read once at the start of the turn."""

    def load(self) -> Loaded:
        """The conversation under this turn's lease, with recent history and recalled memory."""

    def store(self) -> None:
        """Insert the row if it does not exist. Raises ConversationPersistFailed when the database fails."""


class Pace(Protocol):
    """Time for decisions."""

    def elapsed_ms(self) -> float:
        """Milliseconds since the turn began; in a replay, the recorded number."""

    def wait(self, milliseconds: float) -> None:
        """Pause; in a replay, do not."""


@dataclass(frozen=True)
class Ports:
    """All ports of a turn."""

    clock: Clock
    conversations: ConversationPort
    tasks: TaskPort
    executions: ExecutionPort
    containers: ContainerPort
    model: ModelPort
    tools: TimedToolPort
    servers: ServerPort
    pace: Pace
    memory: MemoryPort
    transformers: TransformerPort
    finders: FinderPort = field(default_factory=NoFinders)
    learned: LearnedPort = field(default_factory=UnrecordedDecisions)
