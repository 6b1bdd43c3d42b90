"""A Python client of the HTTP API, sync and async. It needs no Django: `httpx2` is enough."""

from convengine.client.answers import (
    AskedField,
    Choice,
    Confirm,
    Conversation,
    Event,
    Feedback,
    Page,
    Session,
    SessionAnswer,
    StateReport,
    StreamEvent,
    TurnAnswer,
    TurnRecord,
)
from convengine.client.async_client import AsyncClient
from convengine.client.calls import Retries
from convengine.client.errors import (
    ApiError,
    ConnectionFailed,
    ConversationConflict,
    Forbidden,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    ServerFailed,
    Throttled,
)
from convengine.client.sync_client import Client

__all__ = [
    "ApiError",
    "AskedField",
    "AsyncClient",
    "Choice",
    "Client",
    "Confirm",
    "ConnectionFailed",
    "Conversation",
    "ConversationConflict",
    "Event",
    "Feedback",
    "Forbidden",
    "InvalidRequest",
    "NotAuthenticated",
    "NotFound",
    "Page",
    "Retries",
    "ServerFailed",
    "Session",
    "SessionAnswer",
    "StateReport",
    "StreamEvent",
    "Throttled",
    "TurnAnswer",
    "TurnRecord",
]
