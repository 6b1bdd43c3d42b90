"""The calls of the API as values: what is sent, and how the answer is read. Both clients share them."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from convengine.client import answers

Json = Any
T = TypeVar("T")
Context = Literal["none", "public", "all"]
Rating = Literal["THUMBS_UP", "THUMBS_DOWN"]
Headers = Mapping[str, str]

_API = "/api/v1"
_AGENT = "convengine-client"


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
    workspace_id: str, channel: str | None, remote_jid: str | None, cursor: str | None
) -> Call[answers.Page[answers.Session]]:
    query = {"workspace_id": workspace_id, "channel": channel, "remote_jid": remote_jid, "cursor": cursor}
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


def close_session(session_id: str, reason: str | None) -> Call[answers.Session]:
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


def list_turns(conversation_id: str, cursor: str | None) -> Call[answers.Page[answers.TurnRecord]]:
    return Call(
        "GET",
        f"{_API}/conversation/{_quote(conversation_id)}/turns",
        lambda raw, headers: answers.Page.read(raw, "results", answers.TurnRecord.read),
        _drop_nulls({"cursor": cursor}),
    )


def list_events(
    conversation_id: str, turn: int | None, stages: tuple[str, ...], cursor: str | None
) -> Call[answers.Page[answers.Event]]:
    return Call(
        "GET",
        f"{_API}/conversation/audit/{_quote(conversation_id)}",
        lambda raw, headers: answers.Page.read(raw, "results", answers.Event.read),
        _drop_nulls({"turn": turn, "stage": list(stages) or None, "cursor": cursor}),
    )


def get_turn_trace(conversation_id: str, turn_no: int) -> Call[Mapping[str, Json]]:
    return Call(
        "GET", f"{_API}/conversation/{_quote(conversation_id)}/turns/{_quote(turn_no)}/trace", lambda raw, headers: raw
    )


def create_feedback(
    conversation_id: str,
    rating: Rating,
    *,
    turn_id: str | None,
    comment: str | None,
    correction: str | None,
    metadata: Mapping[str, Json] | None,
) -> Call[answers.Feedback]:
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


def make_request(
    method: str, path: str, query: Mapping[str, Json] | None, body: Json, headers: Headers | None
) -> Call[Json]:
    """Any other call; the answer is its JSON."""
    return Call(method.upper(), path, lambda raw, answered: raw, query or {}, body, headers or {})


def stream_path(conversation_id: str) -> str:
    return f"{_API}/conversation/stream/{_quote(conversation_id)}"


def _quote(part: object) -> str:
    """A part of an address: an ID that a user wrote leads to no other call."""
    return quote(str(part), safe="")


def _drop_nulls(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}
