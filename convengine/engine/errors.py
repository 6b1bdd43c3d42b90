"""The errors of the engine. An error's docstring is its message; the API returns its `code`, and the audit records
it.

Source: R3, R50.
"""

from typing import Any, ClassVar, Self


class ConvEngineError(Exception):
    """Something went wrong inside the engine."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    #: HTTP status of the turn API's answer.
    status: ClassVar[int] = 500
    #: True when the same call may succeed later without any change.
    recoverable: ClassVar[bool] = False

    def __init__(self, message: str | None = None, **meta: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().split("\n")[0]
        self.meta = meta
        super().__init__(self.message)


# --- the turn ---------------------------------------------------------------------------------------------------


class TurnInProgress(ConvEngineError):
    """Another turn of this conversation is running; try again shortly."""

    code, status, recoverable = "TURN_IN_PROGRESS", 409, True


class TurnConflict(ConvEngineError):
    """The conversation changed while this turn ran; nothing was stored, send the message again."""

    code, status, recoverable = "TURN_CONFLICT", 409, True


class TurnInterrupted(ConvEngineError):
    """A newer message interrupted this turn; nothing was stored."""

    code, status, recoverable = "TURN_INTERRUPTED", 409, True


class TurnTimeout(ConvEngineError):
    """The turn took longer than its time limit; nothing was stored."""

    code, status, recoverable = "TURN_TIMEOUT", 504, True


class ConversationClosed(ConvEngineError):
    """This conversation is closed."""

    code, status = "CONVERSATION_CLOSED", 409


class SessionTransitionInvalid(ConvEngineError):
    """A session cannot go there from where it stands."""

    code, status = "SESSION_TRANSITION_INVALID", 409


class ConversationNotFound(ConvEngineError):
    """This conversation does not exist."""

    code, status = "NOT_FOUND", 404


class ConversationPersistFailed(ConvEngineError):
    """The database failed; nothing was stored, try again."""

    code, status, recoverable = "CONVERSATION_PERSIST_FAILED", 503, True


class IdempotencyKeyReused(ConvEngineError):
    """This Idempotency-Key was used with another body; use a new key for a new message."""

    code, status = "IDEMPOTENCY_KEY_REUSED", 422


# --- the request ------------------------------------------------------------------------------------------------


class RequestInvalid(ConvEngineError):
    """The request is not valid."""

    code, status = "VALIDATION_ERROR", 400

    def __init__(self, message: str | None = None, *, fields: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        #: What is wrong, by field.
        self.fields = fields or {}


class TooLarge(RequestInvalid):
    """What was sent is too large."""

    status = 413

    @classmethod
    def of(cls, field: str, size: int | None, limit: int, kind: str) -> Self:
        """The error for `size` bytes of a field; null if the bytes were not all counted."""
        received = f"more than {limit}" if size is None else str(size)
        message = f"{(cls.__doc__ or '').strip()[:-1]}: {received} bytes of {kind} received, {limit} is the limit."
        error = cls(message, fields={field: [f"{received} bytes received; send at most {limit} bytes of {kind}."]})
        error.meta |= {"limitBytes": limit, **({} if size is None else {"receivedBytes": size})}
        return error


class MessageTooLarge(TooLarge):
    """The message is too long."""

    code, status = "MESSAGE_TOO_LARGE", 413


class InputParamsTooLarge(TooLarge):
    """The input params are too large."""

    code, status = "INPUT_PARAMS_TOO_LARGE", 413


class RequestTooLarge(TooLarge):
    """The request body is too large."""

    code, status = "REQUEST_TOO_LARGE", 413


# --- the pipeline -----------------------------------------------------------------------------------------------


class PipelineStepFailed(ConvEngineError):
    """A step broke its contract."""

    code = "PIPELINE_STEP_FAILED"


class PipelineConstraintViolation(ConvEngineError):
    """The declared order of the steps cannot be kept."""

    code = "PIPELINE_CONSTRAINT_VIOLATION"


class DuplicateEngineStep(PipelineConstraintViolation):
    """Two steps have the same name."""

    code = "DUPLICATE_ENGINE_STEP"


class MissingBootstrapStep(PipelineConstraintViolation):
    """There must be exactly one bootstrap step."""

    code = "MISSING_BOOTSTRAP_STEP"


class MissingTerminalStep(PipelineConstraintViolation):
    """There must be exactly one terminal step."""

    code = "MISSING_TERMINAL_STEP"


class MissingDependentStep(PipelineConstraintViolation):
    """A step names another one that is not registered."""

    code = "MISSING_DEPENDENT_STEP"


class MissingDagCycle(PipelineConstraintViolation):
    """The declared order of the steps goes in a circle."""

    code = "MISSING_DAG_CYCLE"


class PipelineNoFinalResult(ConvEngineError):
    """The pipeline ended without a result."""

    code = "PIPELINE_NO_FINAL_RESULT"


class PipelineNoResponsePayload(ConvEngineError):
    """The pipeline ended without an answer for the user."""

    code = "PIPELINE_NO_RESPONSE_PAYLOAD"


# --- registered code ---------------------------------------------------------------------------------------------


class InvalidContainerInterceptor(ConvEngineError):
    """A class is registered as a container interceptor and cannot be one."""

    code = "INVALID_CONTAINER_INTERCEPTOR"


class InvalidContainerTransformer(ConvEngineError):
    """A class is registered as a container transformer and cannot be one."""

    code = "INVALID_CONTAINER_TRANSFORMER"


class InvalidResponseTransformer(ConvEngineError):
    """A class is registered as a response transformer and cannot be one."""

    code = "INVALID_RESPONSE_TRANSFORMER"


class InvalidMemoryStore(ConvEngineError):
    """A class is registered as a memory store and cannot be one."""

    code = "INVALID_MEMORY_STORE"


# --- configuration ----------------------------------------------------------------------------------------------


class ConfigInvalid(ConvEngineError):
    """A configuration row that this turn needs is unusable."""

    code = "CONFIG_INVALID"


class ResponseMappingNotFound(ConvEngineError):
    """No response is configured for this intent and state."""

    code = "RESPONSE_MAPPING_NOT_FOUND"


class NoResponseConfigured(ConvEngineError):
    """The response row has a type or format that nothing can produce."""

    code = "NO_RESPONSE_CONFIGURED"


class LlmNotConfigured(ConvEngineError):
    """This answer is written by a model, and no model is configured."""

    code = "LLM_NOT_CONFIGURED"


class PromptContextMissing(ConvEngineError):
    """No prompt template is configured for what the model is to do here."""

    code = "PROMPT_CONTEXT_MISSING"


class PromptRenderFailed(ConvEngineError):
    """A prompt could not be rendered."""

    code, recoverable = "PROMPT_RENDER_FAILED", True


class UnresolvedPromptVariable(ConvEngineError):
    """A prompt names a variable that does not exist."""

    code = "UNRESOLVED_PROMPT_VARIABLE"


# --- streams ----------------------------------------------------------------------------------------------------


class TooManyStreams(ConvEngineError):
    """This process serves as many event streams as it may; come again in a while."""

    code, status, recoverable = "TOO_MANY_STREAMS", 429, True


class StreamsElsewhere(ConvEngineError):
    """Event streams are not served here; CE_STREAMS_URL names no place."""

    code, status = "STREAMS_NOT_SERVED", 404


# --- replay -----------------------------------------------------------------------------------------------------


class ReplayNotOffered(RequestInvalid):
    """Replays of this kind are not run here."""

    code = "REPLAY_NOT_OFFERED"


class ReplayBusy(ConvEngineError):
    """A replay of this caller is under way; come again when it is done."""

    code, status, recoverable = "REPLAY_BUSY", 429, True


class ReplayMismatch(ConvEngineError):
    """The replayed turn asked something that the recording does not answer."""

    code = "REPLAY_MISMATCH"
