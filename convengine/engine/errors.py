"""The errors of the engine. The first line of an error's docstring is its message, and the rest says in the manual's
reference what to do. The API returns its `code`, and the audit records it.
"""

from typing import Any, ClassVar, Self


class ConvEngineError(Exception):
    """The engine failed because of an internal error."""

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
    """Another turn of this conversation is running. Try again shortly."""

    code, status, recoverable = "TURN_IN_PROGRESS", 409, True


class TurnConflict(ConvEngineError):
    """The conversation changed during this turn. Nothing was stored. Send the message again."""

    code, status, recoverable = "TURN_CONFLICT", 409, True


class TurnInterrupted(ConvEngineError):
    """A newer message interrupted this turn. Nothing was stored.

    The newer message is answered; nothing needs to be sent again. `Session / ON_CONCURRENT_TURN` says what happens
    with a message while another one is being answered.
    """

    code, status, recoverable = "TURN_INTERRUPTED", 409, True


class TurnTimeout(ConvEngineError):
    """The turn took longer than its time limit. Nothing was stored.

    Send the message again. If it happens often, the page of the turn says which step waited; an operator can raise
    `CE_TURN_TIMEOUT_SECONDS`.
    """

    code, status, recoverable = "TURN_TIMEOUT", 504, True


class ServerOverloaded(ConvEngineError):
    """The server is overloaded. The request was not processed. Try again shortly."""

    code, status, recoverable = "SERVER_OVERLOADED", 503, True


class ConversationClosed(ConvEngineError):
    """This conversation is closed. Begin another one."""

    code, status = "CONVERSATION_CLOSED", 409


class SessionTransitionInvalid(ConvEngineError):
    """The session cannot change to this lifecycle. Read the session to see the one that it has."""

    code, status = "SESSION_TRANSITION_INVALID", 409


class ConversationNotFound(ConvEngineError):
    """This conversation does not exist. Check its ID, and the workspace of the key."""

    code, status = "NOT_FOUND", 404


class ConversationPersistFailed(ConvEngineError):
    """The database did not store the turn. Nothing was changed. Send the message again."""

    code, status, recoverable = "CONVERSATION_PERSIST_FAILED", 503, True


class MessageAbandoned(ConvEngineError):
    """The server could not answer this queued message. It is not tried again.

    The error says why, and so does the page *Queued messages*. If the server process ended during several attempts, the
    message itself may be what ends it: read the server log of that time.
    """

    code = "MESSAGE_ABANDONED"


class IdempotencyKeyReused(ConvEngineError):
    """This Idempotency-Key was used with another body. Use a new key for a new message."""

    code, status = "IDEMPOTENCY_KEY_REUSED", 422


# --- the request ------------------------------------------------------------------------------------------------


class RequestInvalid(ConvEngineError):
    """The request is not valid.

    `fields` names each field, what was sent, and what is allowed.
    """

    code, status = "VALIDATION_ERROR", 400

    def __init__(self, message: str | None = None, *, fields: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        #: What is wrong, by field.
        self.fields = fields or {}


class DuplicateCredentials(ConvEngineError):
    """The call has more than one `Authorization`. Send one key."""

    code, status = "DUPLICATE_CREDENTIALS", 400


class PreconditionFailed(ConvEngineError):
    """The configuration has changed since the release in `If-Match`. Read it again."""

    code, status = "PRECONDITION_FAILED", 412


class TooLarge(RequestInvalid):
    """The request contains too much data."""

    status = 413

    @classmethod
    def of(cls, field: str, size: int | None, limit: int, kind: str) -> Self:
        """The error for `size` bytes of a field; `size` is None if the bytes were not all counted."""
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


class RequestTimeout(ConvEngineError):
    """The request did not arrive in time. It was not processed.

    Send it again. For callers that send slowly, an operator can raise `CE_TRANSFER_SECONDS`.
    """

    code, status, recoverable = "REQUEST_TIMEOUT", 408, True


# --- the pipeline -----------------------------------------------------------------------------------------------


class PipelineStepFailed(ConvEngineError):
    """A step broke its contract.

    The message names the step. A step of your own must return `Continue` or `Stop`, and may change only the fields
    in its `writes` (the chapter Extending).
    """

    code = "PIPELINE_STEP_FAILED"


class PipelineConstraintViolation(ConvEngineError):
    """The declared order of the steps is not possible."""

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
    """A step names another step that is not registered."""

    code = "MISSING_DEPENDENT_STEP"


class MissingDagCycle(PipelineConstraintViolation):
    """The declared order of the steps has a cycle."""

    code = "MISSING_DAG_CYCLE"


class PipelineNoFinalResult(ConvEngineError):
    """The pipeline ended without a result.

    No step ended the turn. Look at the steps and hooks of your own: one of them ended it before the last step.
    """

    code = "PIPELINE_NO_FINAL_RESULT"


class PipelineNoResponsePayload(ConvEngineError):
    """The pipeline ended without an answer for the user.

    No step wrote an answer. Look at the answers for the intent and state on the page of the turn, and at steps of
    your own that answer.
    """

    code = "PIPELINE_NO_RESPONSE_PAYLOAD"


# --- registered code ---------------------------------------------------------------------------------------------


class InvalidContainerInterceptor(ConvEngineError):
    """The class registered as a container interceptor does not implement the protocol."""

    code = "INVALID_CONTAINER_INTERCEPTOR"


class InvalidContainerTransformer(ConvEngineError):
    """The class registered as a container transformer does not implement the protocol."""

    code = "INVALID_CONTAINER_TRANSFORMER"


class InvalidResponseTransformer(ConvEngineError):
    """The class registered as a response transformer does not implement the protocol."""

    code = "INVALID_RESPONSE_TRANSFORMER"


class InvalidMemoryStore(ConvEngineError):
    """The class registered as a memory store does not implement the protocol."""

    code = "INVALID_MEMORY_STORE"


# --- configuration ----------------------------------------------------------------------------------------------


class ConfigInvalid(ConvEngineError):
    """The configuration cannot be loaded. Publish a new release, or roll back to an older one."""

    code = "CONFIG_INVALID"


class DraftRequired(ConvEngineError):
    """Changes need a review in this installation. Make them in a draft. Nothing was changed."""

    code, status = "DRAFT_REQUIRED", 409


class GradualReleaseRunning(DraftRequired):
    """A gradual release is running. Make changes in a draft until it ends. Nothing was changed."""

    code = "GRADUAL_RELEASE_RUNNING"


class ResponseMappingNotFound(ConvEngineError):
    """No answer is configured for this intent and state.

    Add an answer for this intent and state, or one for the state ANY; Health lists such gaps.
    `ResponseResolutionStep / ON_MISSING` with FALLBACK gives a general answer instead.
    """

    code = "RESPONSE_MAPPING_NOT_FOUND"


class NoResponseConfigured(ConvEngineError):
    """The answer has an unknown type or format.

    Open the answer that the page of the turn names, and choose a type and a format that its form offers.
    """

    code = "NO_RESPONSE_CONFIGURED"


class LlmNotConfigured(ConvEngineError):
    """A model must write this answer, but no model is configured.

    An operator configures a model (the chapter Models); or change the answer to an exact text.
    """

    code = "LLM_NOT_CONFIGURED"


class PromptContextMissing(ConvEngineError):
    """No prompt template is configured for this use of the model.

    Add a prompt template for this use, and for the intent and state of the turn or for ANY, and enable it.
    """

    code = "PROMPT_CONTEXT_MISSING"


class PromptRenderFailed(ConvEngineError):
    """A prompt cannot be rendered.

    Open the prompt that the page of the turn names, and try it in its form with this turn: it says what fails.
    """

    code, recoverable = "PROMPT_RENDER_FAILED", True


class UnresolvedPromptVariable(ConvEngineError):
    """A prompt names a variable that does not exist.

    Open the prompt that the page of the turn names, and try it in its form with this turn: it names what has no value.
    Correct the variable, or remove it.
    """

    code = "UNRESOLVED_PROMPT_VARIABLE"


# --- streams ----------------------------------------------------------------------------------------------------


class TooManyStreams(ConvEngineError):
    """This process already serves its maximum number of event streams. Try again later."""

    code, status, recoverable = "TOO_MANY_STREAMS", 429, True


class StreamsElsewhere(ConvEngineError):
    """This server does not serve event streams. Set CE_STREAMS_URL to the address of one that does."""

    code, status = "STREAMS_NOT_SERVED", 404


# --- replay -----------------------------------------------------------------------------------------------------


class ReplayNotOffered(RequestInvalid):
    """This server does not run replays of this kind."""

    code = "REPLAY_NOT_OFFERED"


class ReplayBusy(ConvEngineError):
    """A replay of this caller is running. Try again when it has finished."""

    code, status, recoverable = "REPLAY_BUSY", 429, True


class ReplayMismatch(ConvEngineError):
    """The replayed turn asked a question without a recorded answer."""

    code = "REPLAY_MISMATCH"
