"""A model that answers from a script: for scenarios, demonstrations and tests."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.domain.ports import LlmAnswer, LlmRequest


@dataclass(frozen=True)
class Line:
    """One entry of a script: which calls it answers, and how."""

    purposes: Collection[str]
    reply: str = ""
    #: The text of an outage instead of a reply.
    error: str | None = None
    #: Texts that must all occur in the prompt or in what the user said, in any case.
    contains: tuple[str, ...] = ()
    #: Texts that must all occur in the prompt, in any case (R105).
    prompt_contains: tuple[str, ...] = ()
    #: How many calls it answers; null for any number.
    times: int | None = None

    def fits(self, request: LlmRequest, user_text: str) -> bool:
        """True when this line may answer the call."""
        prompt = f"{request.system}\n{request.user}".lower()
        return (
            request.purpose in self.purposes
            and all(text.lower() in prompt for text in self.prompt_contains)
            and all(text.lower() in f"{prompt}\n{user_text.lower()}" for text in self.contains)
        )

    def answer(self) -> LlmAnswer:
        """What the call gets. An outage is final: the script stands in for the service with all its retries."""
        if self.error is not None:
            return _answer(error_code="LLM_CALL_FAILED", error_message=self.error)
        return _answer(text=self.reply)


@dataclass
class ScriptedModel:
    """The first line in order that fits, and is not used up, answers a call; a call without one fails and is noted."""

    lines: Sequence[Line]
    #: What the user said in the turn that runs.
    user_text: str = ""
    #: The purposes of all calls so far, in order.
    calls: list[str] = field(default_factory=list)
    #: Calls that no line answered.
    unscripted: list[str] = field(default_factory=list)
    configured: bool = True
    _used: Counter[int] = field(default_factory=Counter)

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Answer from the script."""
        self.calls.append(request.purpose)
        for number, line in enumerate(self.lines):
            if line.times is not None and self._used[number] >= line.times:
                continue
            if line.fits(request, self.user_text):
                self._used[number] += 1
                return line.answer()
        prompt = " ".join(f"{request.system} {request.user}".split())
        self.unscripted.append(f"a model call of purpose {request.purpose}, whose prompt is: {prompt[:200]}")
        return _answer(error_code="LLM_CALL_FAILED", error_message="The script has no answer to this call.")

    def allows(self, name: str) -> bool:
        """A script answers for every model."""
        return True

    def spent(self, conversation_id: str) -> float:
        """A script is free."""
        return 0.0


def _answer(**values: Any) -> LlmAnswer:
    return LlmAnswer(provider="scripted", model="scripted", **values)
