"""A model that answers from a list of answers, and keeps what it was asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from convengine.engine.turn.ports import LlmAnswer, LlmRequest


@dataclass
class AnsweringModel:
    """Texts, or whole answers, in order; the last one answers for ever."""

    answers: Iterable[str | LlmAnswer]
    spent_before: float = 0.0
    requests: list[LlmRequest] = field(default_factory=list)
    configured: bool = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        self.requests.append(request)
        answers = list(self.answers)
        answer = answers[min(len(self.requests), len(answers)) - 1]
        return answer if isinstance(answer, LlmAnswer) else LlmAnswer(answer, "test", "small", latency_ms=10)

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return self.spent_before
