"""Event streams as an ASGI application: `GET /api/v1/conversation/stream/{conversationId}` (api-and-audit 4.4).

A stream holds no thread, transaction or database connection, only its position and a limited queue.
Readers need the rights of the audit endpoints (R53).
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.db import Error
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from audit.access_log.write import log_access
from audit.api import access_scope
from audit.api.access_scope import find_readable_conversation, require_signed_in_reader
from audit.api.parameters import read_uuid
from audit.live import read_events
from audit.live.cursor import StreamCursor
from audit.live.hub import hub
from audit.live.stream import Stream, StreamRequest
from audit.models import CeAccessLog
from convengine.engine.errors import ConvEngineError, RequestInvalid, TooManyStreams
from convengine.engine.turn.codec import dumps
from convengine.server.api.authentication import ApiKeyAuthentication, need_scope
from convengine.server.api.errors import envelope, handle
from convengine.server.api.models import CeApiKey
from convengine.server.deployment import conf
from convengine.server.deployment.request_id import HEADER, bind_request_id, make_request_id

_TRUE, _FALSE = frozenset({"", "1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True)
class Admission:
    """A permitted reader."""

    request: StreamRequest
    cursor: StreamCursor
    #: The request names no event to continue from.
    is_new: bool
    #: The signed-in user; null for a key.
    user_id: int | None
    #: Returns why the reader must leave, or blank.
    find_refusal: Callable[[], str]
    #: Nothing is left and nothing will come: the reader need not connect again.
    is_over: bool


def admit(request: ASGIRequest, conversation_id: str) -> Admission:
    """Check the rights and the parameters. Raises ConvEngineError, APIException.

    SuspiciousOperation for a host that is not served here.
    """
    request.get_host()
    key = _read_key(request)
    pk = read_uuid(conversation_id, "conversationId")
    stream_request = StreamRequest(str(pk), _read_stages(request), _read_flag(request, "verbose"), _sees_prompts(key))
    user = None if key else require_signed_in_reader(request)
    conversation = find_readable_conversation(pk, key)
    if user:
        log_access(request, CeAccessLog.Kind.STREAM, conversation.pk)
    named = _read_event_id(request)
    cursor = _read_cursor(request, named, str(conversation.pk))
    behind = read_events.read_after(str(conversation.pk), cursor)

    def find_refusal() -> str:
        return _find_refusal(request, stream_request)

    return Admission(stream_request, cursor, not named, user.pk if user else None, find_refusal, bool(behind.ended))


def _find_refusal(request: ASGIRequest, stream_request: StreamRequest) -> str:
    try:
        key = _read_key(request)
        if key is None:
            require_signed_in_reader(request)
        find_readable_conversation(uuid.UUID(stream_request.conversation_id), key)
        if stream_request.prompts and not _sees_prompts(key):
            return "FORBIDDEN"
    except APIException:
        return "FORBIDDEN"
    except ConvEngineError as error:
        return error.code
    except Error:
        # If the check is impossible now, it may be possible later.
        return ""
    return ""


def _read_key(request: ASGIRequest) -> CeApiKey | None:
    user_and_key = ApiKeyAuthentication().authenticate(cast(Request, request))
    if user_and_key is None:
        return None
    key = user_and_key[1]
    need_scope(key, (access_scope.SCOPE_WORKSPACE, access_scope.SCOPE_OWN))
    return key


def _sees_prompts(key: CeApiKey | None) -> bool:
    return key is None or access_scope.SCOPE_WORKSPACE in key.scopes


def _read_event_id(request: ASGIRequest) -> str:
    return str(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))


def _read_cursor(request: ASGIRequest, text: str, conversation_id: str) -> StreamCursor:
    """The position after the last seen event; without one, after everything that is stored."""
    if not text:
        return read_events.newest_cursor(conversation_id)
    cursor = StreamCursor.read(text)
    if cursor is None:
        hint = f"{text!r} is not an event ID such as 3.17. 0.0 is the beginning."
        raise RequestInvalid(fields={"Last-Event-ID" if "Last-Event-ID" in request.headers else "after": [hint]})
    return read_events.complete_cursor(conversation_id, cursor)


def _read_stages(request: ASGIRequest) -> frozenset[str]:
    return frozenset(name.strip() for text in request.GET.getlist("stages") for name in text.split(",") if name.strip())


def _read_flag(request: ASGIRequest, name: str) -> bool:
    text = request.GET.get(name, "").lower()
    if text not in _TRUE | _FALSE:
        raise RequestInvalid(fields={name: [f"{text!r} is neither 1 nor 0."]})
    return text in _TRUE


log = structlog.get_logger(__name__)
Json = Any
Headers = list[tuple[bytes, bytes]]
#: Seconds in which a reader must read; and after which a slow one is dropped for good.
_PATIENCE, _LAST_PATIENCE = 30.0, 600.0
#: The pause before a reader connects again, in milliseconds.
_RETRY = b"retry: 2000\n\n"
_streams_per_person: Counter[int] = Counter()
# A process that loads this serves streams, and its pages may link here.
hub.is_served = True


async def serve_streams(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Answer one call."""
    path = str(scope["path"]).rstrip("/")
    request = ASGIRequest(dict(scope), None)  # type: ignore[arg-type]
    request_id = make_request_id(request.headers.get(HEADER))

    async def send_with_id(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            named = (HEADER.lower().encode(), request_id.encode())
            message = {**message, "headers": [*message["headers"], named]}
        await send(message)

    with bind_request_id(request_id):
        await _answer_call(scope, path, request, receive, send_with_id)


async def _answer_call(scope: Mapping[str, Any], path: str, request: ASGIRequest, receive: Any, send: Any) -> None:
    if scope["method"] == "OPTIONS":
        await _send_answer(send, 204, b"", _cors_headers(request))
    elif scope["method"] != "GET":
        body = envelope("METHOD_NOT_ALLOWED", f"Method {scope['method']} is not allowed; GET streams events.")
        await _send_answer(send, 405, dumps(body).encode(), _cors_headers(request))
    else:
        await _serve_stream(request, path.rpartition("/")[2], receive, send)


async def _serve_stream(request: ASGIRequest, conversation_id: str, receive: Any, send: Any) -> None:
    try:
        admitted = await hub.read(partial(admit, request, conversation_id))
        _check_limits(admitted)
    except Exception as refused:
        status, more, body = _refusal_answer(refused, request, conversation_id)
        await _send_answer(send, status, body, [*_cors_headers(request), *more])
        return
    if admitted.is_over:
        # Tells an EventSource not to connect again.
        await _send_answer(send, 204, b"", _cors_headers(request))
        return
    who = admitted.user_id
    _streams_per_person[who or 0] += 1
    reader = hub.join(admitted.request.conversation_id)
    lasts = conf.get("STREAM_SECONDS")
    stream = Stream(hub, reader, admitted.request, admitted.cursor, lasts, admitted.find_refusal, admitted.is_new)
    try:
        await _send_stream(stream, request, receive, send)
    finally:
        hub.leave(reader)
        _streams_per_person[who or 0] -= 1


async def _send_stream(stream: Stream, request: ASGIRequest, receive: Any, send: Any) -> None:
    """Send until the stream ends, the reader leaves, or stops reading."""
    headers = [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-cache"),
        (b"x-accel-buffering", b"no"),
        *_cors_headers(request),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    sending = asyncio.ensure_future(_send_frames(stream, send))
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, gone):
            task.cancel()
        await asyncio.gather(sending, gone, return_exceptions=True)
    if not sending.cancelled() and (error := sending.exception()) and not isinstance(error, (TimeoutError, OSError)):
        log.error("a stream broke off", error=str(error), exc_info=error)


async def _send_frames(stream: Stream, send: Any) -> None:
    await send(_body_message(_RETRY))
    async for sent in stream.frames():
        taken = asyncio.ensure_future(send(_body_message(sent)))
        if not (await asyncio.wait({taken}, timeout=_PATIENCE))[0]:
            # Its queue is dropped. If it reads after all, it gets the message to connect again.
            stream.reader.give_up()
            stream.hub.leave(stream.reader)
            await asyncio.wait_for(taken, _LAST_PATIENCE)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _body_message(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": True}


async def _wait_for_disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _check_limits(admitted: Admission) -> None:
    """Raises TooManyStreams."""
    if hub.count >= conf.get("MAX_STREAMS"):
        raise TooManyStreams()
    if admitted.user_id is not None and _streams_per_person[admitted.user_id] >= conf.get("MAX_STREAMS_PER_PERSON"):
        raise TooManyStreams("Too many open streams. Close a page, or try again later.")


def _refusal_answer(refused: Exception, request: ASGIRequest, conversation_id: str) -> tuple[int, Headers, bytes]:
    """An error as of the audit endpoints."""
    if isinstance(refused, SuspiciousOperation):
        return 400, [], dumps(envelope("VALIDATION_ERROR", "This host is not served here.")).encode()
    answer = handle(refused, {"request": request, "kwargs": {"conversation_id": conversation_id}})
    more = [(name.lower().encode(), str(value).encode()) for name, value in answer.headers.items()]
    more = [(name, value) for name, value in more if name in (b"www-authenticate", b"retry-after")]
    if isinstance(refused, TooManyStreams):
        more.append((b"retry-after", b"10"))
    return answer.status_code, more, dumps(answer.data).encode()


async def _send_answer(send: Any, status: int, body: bytes, headers: Headers) -> None:
    kind = [(b"content-type", b"application/json")] if body else []
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _cors_headers(request: ASGIRequest) -> Headers:
    """Pages of the same host may read the stream from another port, with the session cookie; pages of allowed origins
    with a key.
    """
    origin = request.headers.get("Origin", "")
    try:
        same = urlsplit(origin).hostname == urlsplit(f"//{request.headers.get('Host', '')}").hostname
    except ValueError:
        same = False
    headers = [(b"vary", b"Origin")]
    if origin and (same or origin in getattr(settings, "CORS_ALLOWED_ORIGINS", ())):
        headers.append((b"access-control-allow-origin", origin.encode("latin-1", "replace")))
        headers.append((b"access-control-expose-headers", b"X-Request-ID"))
        if same:
            headers.append((b"access-control-allow-credentials", b"true"))
        if request.method == "OPTIONS":
            names = b"authorization, last-event-id, x-request-id"
            headers += [(b"access-control-allow-headers", names), (b"access-control-allow-methods", b"GET")]
    return headers
