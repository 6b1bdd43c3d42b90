"""The calls of the API as values: what is sent, and how the answer is read; when a call is sent again; and how event
streams are read. Both clients share them.
"""

import inspect
import json
import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import Any, Generic, Literal, Self, TypeVar, get_args
from urllib.parse import quote, urlsplit

import httpx2
from httpx2 import ServerSentEvent

from convengine.client import answers
from convengine.client.answers import StreamEvent
from convengine.client.errors import ApiError, ConnectionFailed, make_error
from convengine.json_value import Json

T = TypeVar("T")
Context = Literal["none", "public", "all"]
Rating = Literal["THUMBS_UP", "THUMBS_DOWN"]
Headers = Mapping[str, str]

_API = "/api/v1"
_AGENT = "convengine-client"
_RECOVERABLE = frozenset({429, 502, 503, 504})
#: Reasons of `STREAM_CLOSED` after which a new connection goes on.
_PASSING = frozenset({"TIME_OVER", "STREAM_TOO_SLOW"})
CLOSED = "STREAM_CLOSED"


@dataclass(frozen=True)
class Retries:
    """A call that has no second effect is sent again after failures that may pass."""

    #: How often a call is sent at most.
    attempts: int = 4
    #: Seconds before the second attempt; each further pause is twice as long.
    first_pause: float = 0.25
    longest_pause: float = 10.0

    def find_pause(self, attempt: int, error: ApiError | ConnectionFailed) -> float | None:
        """Seconds to wait after a failed attempt, counted from 1; None to give up."""
        if attempt >= self.attempts:
            return None
        if isinstance(error, ApiError) and not (error.recoverable or error.status in _RECOVERABLE):
            return None
        pause: float = min(self.first_pause * 2.0 ** (attempt - 1), self.longest_pause)
        # Callers that failed together do not try again together.
        pause *= random.uniform(0.5, 1.0)  # noqa: S311
        asked_pause = error.retry_after if isinstance(error, ApiError) else None
        if asked_pause is not None and asked_pause > self.longest_pause:
            return None
        return max(pause, asked_pause or 0.0)


#: For calls that are sent once.
NO_RETRIES = Retries(attempts=1)


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call that was not sent yet."""

    method: str
    path: str
    read: Callable[[Json, Headers], T]
    query: Mapping[str, Json] = field(default_factory=dict)
    body: Json = None
    headers: Headers = field(default_factory=dict)

    @property
    def is_repeatable(self) -> bool:
        """Whether a second attempt has no second effect."""
        return self.method in ("GET", "PUT") or "Idempotency-Key" in self.headers

    def read_answer(self, response: httpx2.Response) -> T:
        """Raises ApiError for a refusal, and for what is no answer of the API."""
        if response.status_code >= 400 or response.has_redirect_location:
            raise make_error(response)
        try:
            body = response.json() if response.content else None
        except ValueError:
            raise make_error(response) from None
        return self.read(body, response.headers)

    def at(self, cursor: str | None) -> Self:
        """This call for another page of a list."""
        return replace(self, query={**self.query, "cursor": cursor}) if cursor else self


def make_headers(api_key: str) -> dict[str, str]:
    """The headers of every call. A key that was read from a file may end with a line break."""
    return {"Authorization": f"Api-Key {api_key.strip()}", "Accept": "application/json", "User-Agent": _AGENT}


def create_turn(
    message: str | None,
    conversation_id: str | None = None,
    *,
    input_params: Mapping[str, Json] | None = None,
    reset: bool = False,
    preferences: Mapping[str, str] | None = None,
    context: Context = "public",
    include: tuple[str, ...] = (),
    idempotency_key: str | None = None,
) -> Call[answers.TurnAnswer]:
    """Send a message. Without `conversation_id` a conversation begins; send the answer's id with the next one."""
    body = {
        "message": message,
        "conversationId": conversation_id,
        "inputParams": input_params,
        "reset": reset or None,
        "preferences": preferences,
    }
    return Call(
        "POST",
        f"{_API}/conversation/message",
        answers.TurnAnswer.read,
        {"context": context, **({"include": ",".join(include)} if include else {})},
        _drop_nulls(body),
        {"Idempotency-Key": idempotency_key or str(uuid.uuid4())},
    )


def send_session_message(
    workspace_id: str,
    channel: str,
    remote_jid: str,
    user_message: str | None,
    *,
    input_params: Mapping[str, Json] | None = None,
    preferences: Mapping[str, str] | None = None,
    context: Context = "public",
    idempotency_key: str | None = None,
) -> Call[answers.SessionAnswer]:
    """Send a message of a participant on a channel; the server finds or makes the session."""
    thread = {"workspace_id": workspace_id, "channel": channel, "remote_jid": remote_jid}
    options = _drop_nulls({"input_params": input_params, "preferences": preferences})
    return Call(
        "POST",
        f"{_API}/sessions/message",
        answers.SessionAnswer.read,
        {"context": context},
        {**thread, "user_message": user_message, **options},
        {"Idempotency-Key": idempotency_key or str(uuid.uuid4())},
    )


def list_sessions(
    workspace_id: str, *, channel: str | None = None, remote_jid: str | None = None
) -> Call[answers.Page[answers.Session]]:
    """All sessions of the workspace, newest first."""
    query = {"workspace_id": workspace_id, "channel": channel, "remote_jid": remote_jid}
    return Call(
        "GET",
        f"{_API}/sessions",
        lambda raw, headers: answers.Page.read(raw, "sessions", answers.Session.read),
        _drop_nulls(query),
    )


def get_session(session_id: str) -> Call[answers.Session]:
    return Call(
        "GET", f"{_API}/sessions/{_quote(session_id)}", lambda raw, headers: answers.Session.read(raw["session"])
    )


def close_session(session_id: str, reason: str | None = None) -> Call[answers.Session]:
    return Call(
        "POST",
        f"{_API}/sessions/{_quote(session_id)}/close",
        lambda raw, headers: answers.Session.read(raw["session"]),
        body=_drop_nulls({"reason": reason}),
    )


def get_conversation(conversation_id: str) -> Call[answers.Conversation]:
    return Call(
        "GET", f"{_API}/conversation/{_quote(conversation_id)}", lambda raw, headers: answers.Conversation.read(raw)
    )


def list_turns(conversation_id: str) -> Call[answers.Page[answers.TurnRecord]]:
    """All turns, newest first."""
    return Call(
        "GET",
        f"{_API}/conversation/{_quote(conversation_id)}/turns",
        lambda raw, headers: answers.Page.read(raw, "results", answers.TurnRecord.read),
    )


def list_events(
    conversation_id: str, *, turn: int | None = None, stages: tuple[str, ...] = ()
) -> Call[answers.Page[answers.Event]]:
    """All events of turns, oldest first."""
    return Call(
        "GET",
        f"{_API}/conversation/audit/{_quote(conversation_id)}",
        lambda raw, headers: answers.Page.read(raw, "results", answers.Event.read),
        _drop_nulls({"turn": turn, "stage": list(stages) or None}),
    )


def get_turn_trace(conversation_id: str, turn_no: int) -> Call[Mapping[str, Json]]:
    """A turn as steps with their stages, as JSON."""
    return Call(
        "GET", f"{_API}/conversation/{_quote(conversation_id)}/turns/{_quote(turn_no)}/trace", lambda raw, headers: raw
    )


def create_feedback(
    conversation_id: str,
    rating: Rating,
    *,
    turn_id: str | None = None,
    comment: str | None = None,
    correction: str | None = None,
    metadata: Mapping[str, Json] | None = None,
) -> Call[answers.Feedback]:
    """Rate an answer; without `turn_id` the last one."""
    body = {
        "conversationId": conversation_id,
        "feedbackType": rating,
        "messageId": turn_id,
        "comment": comment,
        "correction": correction,
        "metadata": metadata,
    }
    return Call(
        "POST",
        f"{_API}/conversation/feedback",
        lambda raw, headers: answers.Feedback.read(raw),
        body=_drop_nulls(body),
    )


def request(
    method: str,
    path: str,
    *,
    query: Mapping[str, Json] | None = None,
    body: Json = None,
    headers: Headers | None = None,
) -> Call[Json]:
    """Any other call of the API, such as `request("GET", "/api/v1/config")`; gives its JSON."""
    return Call(method.upper(), path, lambda raw, answered: raw, query or {}, body, headers or {})


def stream_path(conversation_id: str) -> str:
    return f"{_API}/conversation/stream/{_quote(conversation_id)}"


def describe_method(method: Callable[..., Any], make_call: Callable[..., Any], returns: Any) -> None:
    """Give the method of a client the name, the docstring and the parameters of its call, for `help()` and editors."""
    update_wrapper(method, make_call)
    signature = inspect.signature(make_call)
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=own, return_annotation=returns)  # type: ignore[attr-defined]


def find_answer_type(make_call: Callable[..., Any]) -> Any:
    """What the answer of a call is read as."""
    return get_args(make_call.__annotations__["return"])[0]


def _quote(part: object) -> str:
    """A part of an address: an ID that a user wrote leads to no other call."""
    return quote(str(part), safe="")


def _drop_nulls(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}


def read_event(sent: ServerSentEvent) -> StreamEvent:
    return StreamEvent(sent.event, json.loads(sent.data), sent.id)


def may_go_on(event: StreamEvent) -> bool:
    """Whether a stream that ended with this event continues on a new connection."""
    return event.data.get("reason") in _PASSING


def make_query(after: str, stages: tuple[str, ...], *, verbose: bool) -> dict[str, str]:
    query = {"verbose": "1" if verbose else "0"}
    if after:
        query["after"] = after
    if stages:
        query["stages"] = ",".join(stages)
    return query


def find_stream_address(base_url: str, current_url: str, headers: Mapping[str, str]) -> str:
    """The address that the server redirects to, if the key may be sent there: another port of the same host.

    Raises ConnectionFailed for another host, and where the address `current_url` came from a redirect itself.
    """
    address = headers.get("Location", "")
    if urlsplit(current_url).netloc:
        raise ConnectionFailed(f"{current_url} serves no event streams: it redirects to {address}.")
    parts, base = urlsplit(address), urlsplit(base_url)
    if parts.hostname != base.hostname or (base.scheme == "https" and parts.scheme != "https"):
        raise ConnectionFailed(f"Event streams are served at {address}. Make a client for that server to watch them.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
