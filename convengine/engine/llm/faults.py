"""Faults of a model, as values for steps and as errors that end a turn."""

from dataclasses import dataclass
from typing import Any

from convengine.engine.errors import ConvEngineError, LlmNotConfigured


class LlmCallFailed(ConvEngineError):
    """The model service is not available at the moment; please try again."""

    code, status, recoverable = "LLM_CALL_FAILED", 502, True


class LlmTimeout(ConvEngineError):
    """The model took too long to answer; please try again."""

    code, status, recoverable = "LLM_TIMEOUT", 504, True


class LlmInvalidResponse(ConvEngineError):
    """The model's answer could not be read.

    The page of the turn shows what the model wrote. Ask for JSON alone in the prompt, or choose another model.
    """

    code, status = "LLM_INVALID_RESPONSE", 502


class LlmEmptyResponse(ConvEngineError):
    """The model gave an empty answer.

    The page of the turn shows the prompt. A model that thinks may have used all of its tokens: raise its limit, or
    choose another model.
    """

    code, status = "LLM_EMPTY_RESPONSE", 502


class LlmTruncated(ConvEngineError):
    """The model's answer is cut off.

    The answer was longer than the limit of tokens. Ask for less in the prompt, or raise the limit (the chapter
    Models).
    """

    code, status = "LLM_TRUNCATED", 502


class LlmSchemaViolation(ConvEngineError):
    """The model's answer does not have the shape that was asked for.

    The page of the turn shows what the model wrote, and the schema. Correct the prompt, or choose another model.
    """

    code, status = "LLM_SCHEMA_VIOLATION", 502


class LlmBudgetExceeded(ConvEngineError):
    """What models may be asked in this turn or conversation is used up.

    The settings of type LLM set what a turn and a conversation may use: MAX_CALLS_PER_TURN, MAX_MS_PER_TURN,
    MAX_TOKENS_PER_TURN and MAX_COST_PER_CONVERSATION.
    """

    code = "LLM_BUDGET_EXCEEDED"


class LlmCircuitOpen(ConvEngineError):
    """The model service failed repeatedly and is not called at the moment; please try again later."""

    code, status, recoverable = "LLM_CIRCUIT_OPEN", 503, True


class LlmOverloaded(ConvEngineError):
    """Too many turns wait for a model at the moment; please try again shortly."""

    code, status, recoverable = "LLM_OVERLOADED", 503, True


_ERRORS: dict[str, type[ConvEngineError]] = {
    error.code: error
    for error in (
        LlmCallFailed,
        LlmTimeout,
        LlmInvalidResponse,
        LlmEmptyResponse,
        LlmTruncated,
        LlmSchemaViolation,
        LlmBudgetExceeded,
        LlmCircuitOpen,
        LlmOverloaded,
        LlmNotConfigured,
    )
}


@dataclass(frozen=True)
class ModelFault:
    """Why there is no usable answer. `message` is for the record, never for the user."""

    code: str
    message: str

    @property
    def is_unreadable(self) -> bool:
        """True when the model is there, and its answer cannot be read."""
        return self.code in (LlmInvalidResponse.code, LlmSchemaViolation.code, LlmTruncated.code)

    @property
    def recoverable(self) -> bool:
        """True when the same prompt may succeed later."""
        return self._error.recoverable

    @property
    def name(self) -> str:
        """The name of the fault in events: `LlmTimeout`; an answer that is not JSON is `InvalidJson`."""
        return "InvalidJson" if self.code == LlmInvalidResponse.code else self._error.__name__

    def error(self, **meta: Any) -> ConvEngineError:
        """The error that ends a turn: a neutral text for the user, the cause in its meta."""
        return self._error(cause=self.message, **meta)

    @property
    def _error(self) -> type[ConvEngineError]:
        return _ERRORS.get(self.code, LlmCallFailed)
