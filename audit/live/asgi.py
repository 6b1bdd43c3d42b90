"""Event streams as an ASGI application: `GET /api/v1/conversation/stream/{conversationId}`.

A stream holds no thread, transaction or database connection, only its position and a limited queue. It sends what is
stored, then what happens, each event once and in order.
"""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
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
from audit.api.access_scope import (
    SCOPE_OWN,
    SCOPE_WORKSPACE,
    find_readable_conversation,
    require_signed_in_reader,
)
from audit.api.parameters import read_uuid
from audit.live import read_events
from audit.live.hub import Hub, Reader, hub
from audit.live.messages import CLOSED, CONNECTED, VERBOSE, StreamCursor, encode_frame
from audit.live.read_events import read_after
from audit.models import CeAccessLog
from audit.record.prompts import strip_prompts
from convengine.engine.errors import ConvEngineError, RequestInvalid, TooManyStreams
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dumps, loads
from convengine.server.api.authentication import ApiKeyAuthentication, need_scope
from convengine.server.api.errors import handle
from convengine.server.deployment import conf
from convengine.server.deployment.request_id import HEADER, bind_request_id, make_request_id
from convengine.server.turns.failure import envelope

#: Seconds between two heartbeats: proxies end a silent connection after a minute.
HEARTBEAT = 15.0
_COMMENT = b": still here\n\n"


@dataclass(frozen=True)
class StreamRequest:
    """What a permitted reader asks for."""

    conversation_id: str
    #: The position after which the stream begins.
    cursor: StreamCursor
    #: Stages to send; all when empty.
    stages: Collection[str] = ()
    verbose: bool = True
    #: Prompts are shown.
    prompts: bool = True
    #: The reader named no event to continue from.
    is_new: bool = False
    #: The signed-in user or the API key, whose streams are counted.
    caller: str = ""
    #: The caller is an API key.
    is_key: bool = False
    #: Called periodically: returns why the stream must end, or blank.
    find_refusal: Callable[[], str] = lambda: ""

    def render(self, data: str) -> str:
        """An envelope for this reader."""
        return data if self.prompts else dumps(strip_prompts(loads(data)))

    def wants(self, name: str) -> bool:
        """True for a stage that is sent. The failure of a turn is always sent."""
        return not self.stages or name == TURN_FAILED or name in self.stages or base_name(name) in self.stages


async def iterate_frames(hub: Hub, reader: Reader, request: StreamRequest, lasts: float) -> AsyncIterator[bytes]:
    """All messages, until the reader leaves, is too slow, or `lasts` seconds are over."""
    key, cursor = request.conversation_id, request.cursor
    # A new reader learns its position for a later connection.
    greeting = dumps({"conversationId": key, "transport": "SSE"})
    yield encode_frame(CONNECTED, greeting, cursor if request.is_new else None)
    until, checked_at = time.monotonic() + lasts, time.monotonic()
    why = ""
    while not why and time.monotonic() < until:
        if reader.overrun:
            why = "STREAM_TOO_SLOW"
        elif reader.stale:
            reader.stale = False
            page = await hub.read(partial(read_after, key, cursor))
            reader.stale |= page.more
            for message in page.messages:
                cursor = cursor.advance(message.cursor)
                if request.wants(message.name):
                    yield encode_frame(message.name, request.render(message.data), cursor)
            why = page.ended
        elif reader.progress:
            progress = reader.progress.popleft()
            if request.verbose:
                yield encode_frame(VERBOSE, progress)
        else:
            try:
                await asyncio.wait_for(reader.woken.wait(), HEARTBEAT)
                reader.woken.clear()
            except TimeoutError:
                yield _COMMENT
        if time.monotonic() > checked_at + 2 * HEARTBEAT:
            checked_at, why = time.monotonic(), why or await hub.read(request.find_refusal)
    yield encode_frame(CLOSED, dumps({"conversationId": key, "reason": why or "TIME_OVER"}))


_TRUE, _FALSE = frozenset({"", "1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def admit(request: ASGIRequest, conversation_id: str) -> StreamRequest:
    """Check the rights and the parameters. Raises ConvEngineError, APIException.

    SuspiciousOperation for a host that is not served here.
    """
    request.get_host()
    pk = read_uuid(conversation_id, "conversationId")
    sees_prompts, caller, is_key = _check_rights(request, pk)
    stages = (name.strip() for text in request.GET.getlist("stages") for name in text.split(","))
    verbose = request.GET.get("verbose", "").lower()
    if verbose not in _TRUE | _FALSE:
        raise RequestInvalid(fields={"verbose": [f"{verbose!r} is neither 1 nor 0."]})
    if not is_key:
        log_access(request, CeAccessLog.Kind.STREAM, pk)
    event_id = str(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))
    cursor = _read_cursor(request, event_id, str(pk))
    find_refusal = partial(_find_refusal, request, pk, sees_prompts)
    wanted = frozenset(filter(None, stages)), verbose in _TRUE
    return StreamRequest(str(pk), cursor, *wanted, sees_prompts, not event_id, caller, is_key, find_refusal)


def _check_rights(request: ASGIRequest, pk: uuid.UUID) -> tuple[bool, str, bool]:
    """Whether the reader may see prompts, who it is, and whether that is a key.

    Raises ConvEngineError, APIException.
    """
    user_and_key = ApiKeyAuthentication().authenticate(cast(Request, request))
    if user_and_key is None:
        user = require_signed_in_reader(request)
        find_readable_conversation(pk, None)
        return True, f"user {user.pk}", False
    key = user_and_key[1]
    need_scope(key, (SCOPE_WORKSPACE, SCOPE_OWN))
    find_readable_conversation(pk, key)
    return SCOPE_WORKSPACE in key.scopes, f"key {key.pk}", True


def _find_refusal(request: ASGIRequest, pk: uuid.UUID, saw_prompts: bool) -> str:
    try:
        sees_prompts, *_ = _check_rights(request, pk)
    except APIException:
        return "FORBIDDEN"
    except ConvEngineError as error:
        return error.code
    except Error:
        # If the check is impossible now, it may be possible later.
        return ""
    return "FORBIDDEN" if saw_prompts and not sees_prompts else ""


def _read_cursor(request: ASGIRequest, text: str, conversation_id: str) -> StreamCursor:
    """The position after the last seen event; without one, after everything that is stored."""
    if not text:
        return read_events.newest_cursor(conversation_id)
    cursor = StreamCursor.read(text)
    if cursor is None:
        hint = f"{text!r} is not an event ID such as 3.17. 0.0 is the beginning."
        raise RequestInvalid(fields={"Last-Event-ID" if "Last-Event-ID" in request.headers else "after": [hint]})
    return read_events.complete_cursor(conversation_id, cursor)


log = structlog.get_logger(__name__)
Headers = list[tuple[bytes, bytes]]
#: Seconds in which a reader must read; and after which a slow one is dropped for good.
_PATIENCE, _LAST_PATIENCE = 30.0, 600.0
#: The pause before a reader connects again, in milliseconds.
_RETRY = b"retry: 2000\n\n"
_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]
_streams_per_caller: Counter[str] = Counter()


async def serve_streams(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    request = ASGIRequest(dict(scope), None)  # type: ignore[arg-type]
    request_id = make_request_id(request.headers.get(HEADER))
    headers = [(HEADER.lower().encode(), request_id.encode()), *_cors_headers(request)]
    with bind_request_id(request_id):
        if request.method == "OPTIONS":
            await _send_answer(send, 204, b"", headers)
        elif request.method != "GET":
            body = envelope("METHOD_NOT_ALLOWED", f"Method {request.method} is not allowed; GET streams events.")
            await _send_answer(send, 405, dumps(body).encode(), headers)
        else:
            await _serve_stream(request, headers, receive, send)


async def _serve_stream(request: ASGIRequest, headers: Headers, receive: Any, send: Any) -> None:
    conversation_id = request.path.rstrip("/").rpartition("/")[2]
    try:
        admitted = await hub.read(partial(admit, request, conversation_id))
        first_page = await hub.read(partial(read_after, admitted.conversation_id, admitted.cursor))
        # The stream is counted before anything else is waited for.
        _check_limits(admitted)
    except Exception as refused:
        status, more, body = _refusal_answer(refused, request, conversation_id)
        await _send_answer(send, status, body, [*headers, *more])
        return
    if first_page.ended:
        # Nothing is left and nothing will come: an EventSource must not connect again.
        await _send_answer(send, 204, b"", headers)
        return
    _streams_per_caller[admitted.caller] += 1
    reader = hub.join(admitted.conversation_id)
    try:
        await send({"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *headers]})
        await _send_stream(reader, admitted, receive, send)
    finally:
        hub.leave(reader)
        _streams_per_caller[admitted.caller] -= 1


async def _send_stream(reader: Reader, admitted: StreamRequest, receive: Any, send: Any) -> None:
    """Send until the stream ends, the reader leaves, or stops reading."""
    sending = asyncio.ensure_future(_send_frames(reader, admitted, send))
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, gone):
            task.cancel()
        await asyncio.gather(sending, gone, return_exceptions=True)
    if not sending.cancelled() and (error := sending.exception()) and not isinstance(error, (TimeoutError, OSError)):
        log.error("a stream broke off", error=str(error), exc_info=error)


async def _send_frames(reader: Reader, admitted: StreamRequest, send: Any) -> None:
    await send(_body_message(_RETRY))
    async for sent in iterate_frames(hub, reader, admitted, conf.get("STREAM_SECONDS")):
        taken = asyncio.ensure_future(send(_body_message(sent)))
        if not (await asyncio.wait({taken}, timeout=_PATIENCE))[0]:
            # Its queue is dropped. If it reads after all, it gets the message to connect again.
            reader.give_up()
            hub.leave(reader)
            await asyncio.wait_for(taken, _LAST_PATIENCE)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _body_message(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": True}


async def _wait_for_disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _check_limits(admitted: StreamRequest) -> None:
    """Raises TooManyStreams."""
    if hub.count >= conf.get("MAX_STREAMS"):
        raise TooManyStreams()
    limit = conf.get("MAX_STREAMS_PER_KEY" if admitted.is_key else "MAX_STREAMS_PER_PERSON")
    if _streams_per_caller[admitted.caller] >= limit:
        remedy = "Close a stream of this API key" if admitted.is_key else "Close a page"
        raise TooManyStreams(f"Too many open streams. {remedy}, or try again later.")


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
