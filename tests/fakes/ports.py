"""Ports in memory: a stored conversation, tasks that write down what they were asked, no model, no tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.domain.conversation import Loaded
from convengine.domain.ports import ContainerAnswer, ContainerRequest, TaskAnswer
from convengine.domain.rows import Rule
from convengine.domain.session import Session


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

    def methods(self, task: str) -> Sequence[str] | None:
        found = [name.partition(":")[2] for name in self.answers if name.partition(":")[0] == task]
        return found or None

    def run(self, task: str, method: str, session: Session, rule: Rule | None = None) -> TaskAnswer:
        self.calls.append(f"{task}:{method}")
        answer = self.answers[f"{task}:{method}"]
        return answer if isinstance(answer, TaskAnswer) else answer(session)


@dataclass
class FixedContainers:
    """Containers by (page, section, container)."""

    values: Mapping[tuple[int, int, int], Any] = field(default_factory=dict)

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        key = (request.page_id, request.section_id, request.container_id)
        if key not in self.values:
            return ContainerAnswer(error_type="NO_PROVIDER", error_message="NO_PROVIDER")
        return ContainerAnswer(self.values[key])
