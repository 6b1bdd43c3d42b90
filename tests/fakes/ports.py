"""Ports in memory: a stored conversation, tasks that write down what they were asked, no model, no tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.turn.conversation import Loaded
from convengine.engine.turn.payload import Payload
from convengine.engine.turn.ports import (
    ContainerAnswer,
    ContainerRequest,
    Execution,
    ExecutionClaim,
    MemoryAnswer,
    TaskAnswer,
    TaskRun,
    TransformAnswer,
)
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session


@dataclass
class StoredConversation:
    """The conversations port on a value."""

    loaded: Loaded
    stored: int = 0

    def load(self) -> Loaded:
        return self.loaded

    def store(self) -> None:
        self.stored += 1


@dataclass
class RecordingTasks:
    """Tasks by `task:method`: an answer, or a function of the session; calls are kept in order."""

    answers: Mapping[str, TaskAnswer | Callable[[Session], TaskAnswer]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    #: For each call its key and time limit.
    actions: list[TaskRun | None] = field(default_factory=list)
    #: Tasks that the context may name.
    from_context: frozenset[str] = frozenset()
    #: Tasks that may run again.
    repeatable: frozenset[str] = frozenset()

    def methods(self, task: str) -> Sequence[str] | None:
        found = [name.partition(":")[2] for name in self.answers if name.partition(":")[0] == task]
        return found or None

    def names(self) -> Sequence[str]:
        return sorted({name.partition(":")[0] for name in self.answers})

    def allowed_from_context(self, task: str) -> bool:
        return task in self.from_context

    def is_repeatable(self, task: str, methods: Sequence[str]) -> bool:
        return task in self.repeatable

    def run(
        self, task: str, method: str, session: Session, rule: Rule | None = None, task_run: TaskRun | None = None
    ) -> TaskAnswer:
        self.calls.append(f"{task}:{method}")
        self.actions.append(task_run)
        answer = self.answers[f"{task}:{method}"]
        return answer if isinstance(answer, TaskAnswer) else answer(session)


@dataclass
class FixedContainers:
    """Containers by (page, section, container): a value, or a whole answer; requests are kept in order."""

    values: Mapping[tuple[int, int, int], Any] = field(default_factory=dict)
    requests: list[ContainerRequest] = field(default_factory=list)

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        self.requests.append(request)
        key = (request.page_id, request.section_id, request.container_id)
        if key not in self.values:
            return ContainerAnswer(error_type="NO_PROVIDER", error_message="NO_PROVIDER")
        value = self.values[key]
        return value if isinstance(value, ContainerAnswer) else ContainerAnswer(value)


@dataclass
class BookOfExecutions:
    """Claims in memory; the same book in several turns is the same database."""

    #: By nonce: status, result, digest of what was confirmed.
    claims: dict[str, tuple[str, Any, str]] = field(default_factory=dict)

    def claim(self, claim: ExecutionClaim) -> Execution:
        number = list(self.claims).index(claim.nonce) if claim.nonce in self.claims else len(self.claims)
        if claim.nonce in self.claims:
            status, result, digest = self.claims[claim.nonce]
            return Execution(False, number, status, result, digest)
        self.claims[claim.nonce] = ("CLAIMED", None, claim.request_hash)
        return Execution(True, number, "CLAIMED", None, claim.request_hash)

    def finish(self, claim: ExecutionClaim, status: str, result: Any) -> None:
        self.claims[claim.nonce] = (status, result, claim.request_hash)


@dataclass
class FixedMemory:
    """Memory stores that say `answer`, and keep what they were given."""

    answer: MemoryAnswer = field(default_factory=MemoryAnswer)
    written: list[str] = field(default_factory=list)

    def read(self, session: Session) -> MemoryAnswer:
        return self.answer

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        self.written.append(summary)
        return MemoryAnswer(None, self.answer.stores, self.answer.faults)


@dataclass
class FixedTransformers:
    """Response transformers by stage: an answer, or a function of the payload."""

    answers: Mapping[str, TransformAnswer | Callable[[Payload], TransformAnswer]] = field(default_factory=dict)

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        answer = self.answers.get(stage, TransformAnswer())
        return answer if isinstance(answer, TransformAnswer) else answer(payload)
