"""The result of one attempt: the service's answer or the library's exception, as a value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from convengine.engine.text.compare import shorten
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.ports import LlmAnswer
from convengine.json_value import Json
from convengine.server.model_clients.connections import ModelConnection

_LONGEST_MESSAGE = 500
_MAX_COUNT = 2**31 - 1
#: Numbers of vectors are about 1; with larger ones lengths could not be computed.
_MOST_NUMBER = 1e15
#: Remedies when a service refuses a call.
_REMEDIES = {
    400: "Where the service does not know answers by schema, set `answers` to object or text.",
    401: "Check the connection's key.",
    403: "Check the connection's key.",
    404: "Check the connection's base_url and the name of the model.",
    422: "Where the service does not know answers by schema, set `answers` to object or text.",
}
#: Where services put what a model thought, if it is not in its text, and how they say that an answer is cut off.
_THOUGHTS, _CUT_OFF = ("reasoning_content", "reasoning"), ("length", "max_tokens")
TRUNCATED = "LLM_TRUNCATED"
_AGAIN = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class Try:
    answer: LlmAnswer
    #: True when another attempt may succeed.
    again: bool = False
    #: The pause that the service asks for, in seconds.
    wait: float = 0.0
    #: False where the service failed too often, or wants a pause.
    was_called: bool = True
    #: Of texts, in their order.
    vectors: Sequence[Sequence[float]] = ()

    @property
    def is_truncated(self) -> bool:
        """True when more tokens might be enough for the answer."""
        return self.answer.error_code == TRUNCATED


def read_completion(completion: Any) -> Try:
    """The text of a chat completion. The library does not validate the response, so this does."""
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        excerpt = shorten(str(completion), 120)
        return _build_failed_try("LLM_INVALID_RESPONSE", f"The service's answer is not a chat completion: {excerpt!r}.")
    usage, text = getattr(completion, "usage", None), _text(getattr(message, "content", None))
    model = getattr(completion, "model", None)
    # In front of the text, as models write them that have no field for them.
    thoughts = next((thought for name in _THOUGHTS if (thought := _text(getattr(message, name, None)))), "")
    answer = LlmAnswer(
        text=f"<think>{thoughts}</think>\n{text}" if thoughts else text,
        model=model if isinstance(model, str) else "",
        input_tokens=_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_count(getattr(usage, "completion_tokens", None)),
    )
    refusal = getattr(message, "refusal", None)
    if refusal and not text:
        return Try(_with_fault(answer, "LLM_EMPTY_RESPONSE", f"The model refuses: {shorten(str(refusal), 200)}"))
    if str(getattr(choice, "finish_reason", None)).lower() in _CUT_OFF:
        return Try(_with_fault(answer, TRUNCATED, "The answer is cut off: it has too many tokens."))
    return Try(answer)


def read_embeddings(response: Any, texts: int) -> Try:
    """The vectors of this number of texts, which the service may return in any order."""
    entries = getattr(response, "data", None)
    listed = entries if isinstance(entries, list) else []
    indexes = [getattr(entry, "index", None) for entry in listed]
    if sorted(map(str, indexes)) != sorted(map(str, range(texts))):
        message = f"The service was asked for {texts} vectors, and gave {len(listed)}, with the indexes {indexes}."
        return _build_failed_try("LLM_INVALID_RESPONSE", shorten(message, _LONGEST_MESSAGE))
    vectors: list[Any] = [
        getattr(entry, "embedding", None) for entry in sorted(listed, key=lambda entry: int(entry.index))
    ]
    if not all(map(_is_vector, vectors)) or len(set(map(len, vectors))) > 1:
        message = f"The service gave no vectors of one length: {shorten(str(vectors), 120)}"
        return _build_failed_try("LLM_INVALID_RESPONSE", message)
    tokens = _count(getattr(getattr(response, "usage", None), "prompt_tokens", None))
    return Try(LlmAnswer(input_tokens=tokens), vectors=vectors)


def _is_vector(vector: Json) -> bool:
    """True for a list of numbers that are not all 0."""
    is_sized = isinstance(vector, list) and any(vector)
    return is_sized and all(isinstance(value, (int, float)) and abs(value) < _MOST_NUMBER for value in vector)


def read_fault(error: Exception, seconds: float, connection: ModelConnection) -> Try:
    """The meaning of an exception of the library."""
    import openai

    from convengine.server.outgoing.transport import AnswerRefused

    # A timeout of the library is a subclass of its connection errors, so it comes first.
    if isinstance(error, (openai.APITimeoutError, TimeoutError)):
        return _build_failed_try("LLM_TIMEOUT", f"No complete answer within {seconds:.1f} s.", again=True)
    if isinstance(error.__cause__, AnswerRefused):
        return _build_failed_try("LLM_INVALID_RESPONSE", str(error.__cause__))
    if isinstance(error.__cause__, ToolFault):
        fault = error.__cause__
        return _build_failed_try("LLM_CALL_FAILED", fault.message, again=fault.code == "HOST_UNKNOWN")
    if isinstance(error, openai.APIStatusError):
        return _build_refused_try(error, connection)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return _build_failed_try(
            "LLM_CALL_FAILED", _mask_secrets(f"{type(cause).__name__}: {cause}", connection), again=True
        )
    if isinstance(error, (ValueError, openai.APIError)):
        return _build_failed_try(
            "LLM_INVALID_RESPONSE", _mask_secrets(f"The service's answer cannot be read: {error}", connection)
        )
    return _build_failed_try("LLM_CALL_FAILED", _mask_secrets(f"{type(error).__name__}: {error}", connection))


def _build_refused_try(error: Any, connection: ModelConnection) -> Try:
    status = int(error.status_code)
    body = error.body if isinstance(error.body, dict) else {}
    reason = _mask_secrets(f"{status}: {body.get('message') or error.message}", connection)
    remedy = f" {_REMEDIES[status]}" if status in _REMEDIES else ""
    again = status >= 500 or status in _AGAIN
    try:
        wait = max(float(error.response.headers.get("retry-after", 0)), 0.0)
    except ValueError:
        wait = 0.0  # A date: use our own pause.
    return _build_failed_try("LLM_CALL_FAILED", reason + remedy, again=again, wait=wait)


def _build_failed_try(code: str, message: str, *, again: bool = False, wait: float = 0.0) -> Try:
    return Try(LlmAnswer(error_code=code, error_message=message), again, wait)


def _with_fault(answer: LlmAnswer, code: str, message: str) -> LlmAnswer:
    return replace(answer, error_code=code, error_message=message)


def _mask_secrets(text: str, connection: ModelConnection) -> str:
    """A message without the key, which some services repeat."""
    secrets = [connection.api_key, *connection.headers.values()]
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    return shorten(text, _LONGEST_MESSAGE)


def _text(content: Json) -> str:
    """The text of a message: one text, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _count(value: Json) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT
    return value if usable else None
