"""A model that answers from a script, for scenarios, demonstrations and tests."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.turn.ports import LlmAnswer, LlmRequest

#: What a call fails with that nothing answers.
NO_ANSWER = "No stub answers this call."


@dataclass(frozen=True)
class ScriptLine:
    purposes: Collection[str]
    reply: str = ""
    #: The text of an outage instead of a reply.
    error: str | None = None
    #: Texts that must all occur in the prompt or in the user's message, ignoring case.
    contains: tuple[str, ...] = ()
    #: Texts that must all occur in the prompt, ignoring case.
    prompt_contains: tuple[str, ...] = ()
    #: How many calls it answers. None for any number.
    times: int | None = None
    #: The code of the outage.
    code: str = "LLM_CALL_FAILED"

    def fits(self, request: LlmRequest, user_text: str) -> bool:
        """True when this line may answer the call."""
        prompt = f"{request.system}\n{request.user}".lower()
        return (
            request.purpose in self.purposes
            and all(text.lower() in prompt for text in self.prompt_contains)
            and all(text.lower() in f"{prompt}\n{user_text.lower()}" for text in self.contains)
        )

    def answer(self) -> LlmAnswer:
        """The answer to the call. An outage is final: the script replaces the service with all its retries."""
        if self.error is not None:
            return _build_answer(error_code=self.code, error_message=self.error)
        return _build_answer(text=self.reply)


@dataclass
class ScriptedModel:
    """The first matching line that is not used up answers a call. A call without one fails."""

    lines: Sequence[ScriptLine]
    #: The user's message in the current turn.
    user_text: str = ""
    #: The purposes of all calls so far, in order.
    calls: list[str] = field(default_factory=list)
    configured: bool = True
    _used: Counter[int] = field(default_factory=Counter)

    def has_answer(self, request: LlmRequest) -> bool:
        """True when a line that is not used up fits the call."""
        return any(
            line.fits(request, self.user_text) and (line.times is None or self._used[number] < line.times)
            for number, line in enumerate(self.lines)
        )

    def complete(self, request: LlmRequest) -> LlmAnswer:
        self.calls.append(request.purpose)
        for number, line in enumerate(self.lines):
            if line.times is not None and self._used[number] >= line.times:
                continue
            if line.fits(request, self.user_text):
                self._used[number] += 1
                return line.answer()
        return _build_answer(error_code="LLM_CALL_FAILED", error_message=NO_ANSWER)

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0


def _build_answer(**values: Any) -> LlmAnswer:
    return LlmAnswer(provider="scripted", model="scripted", **values)
