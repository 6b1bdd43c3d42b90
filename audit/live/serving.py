"""Event streams as an ASGI application: `GET /api/v1/conversation/stream/{conversationId}` (api-and-audit 4.4).

A stream holds no thread, no transaction and no connection to the database, only its place and a bounded queue.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest

from audit.live.admission import Admitted, admit
from audit.live.hub import hub
from audit.live.stream import Stream
from convengine import conf
from convengine.api.errors import envelope, handle
from convengine.codec import dumps
from convengine.errors import TooManyStreams

log = structlog.get_logger(__name__)
Json = Any
Headers = list[tuple[bytes, bytes]]
#: Seconds in which a reader must take what it is sent; and after which one that did not is given up for good.
_PATIENCE, _LAST_PATIENCE = 30.0, 600.0
#: What a reader waits before it comes again, in milliseconds.
_RETRY = b"retry: 2000\n\n"
_people: Counter[int] = Counter()
# Whoever loads this serves it, and pages of the same process may lead here.
hub.served = True


async def streams(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Answer one call."""
    path = str(scope["path"]).rstrip("/")
    request = ASGIRequest(dict(scope), None)  # type: ignore[arg-type]
    if scope["method"] == "OPTIONS":
        await _answer(send, 204, b"", _shared(request))
    elif scope["method"] != "GET":
        body = envelope("METHOD_NOT_ALLOWED", f"Method {scope['method']} is not allowed; GET streams events.")
        await _answer(send, 405, dumps(body).encode(), _shared(request))
    else:
        await _stream(request, path.rpartition("/")[2], receive, send)


async def _stream(request: ASGIRequest, conversation_id: str, receive: Any, send: Any) -> None:
    try:
        admitted = await hub.read(partial(admit, request, conversation_id))
        _need_room(admitted)
    except Exception as refused:
        status, more, body = _refusal(refused, request, conversation_id)
        await _answer(send, status, body, [*_shared(request), *more])
        return
    if admitted.nothing_more:
        # What an EventSource takes as: do not come again.
        await _answer(send, 204, b"", _shared(request))
        return
    who = admitted.user_id
    _people[who or 0] += 1
    reader = hub.join(admitted.wanted.conversation_id)
    lasts = conf.get("STREAM_SECONDS")
    stream = Stream(hub, reader, admitted.wanted, admitted.place, lasts, admitted.refused, admitted.anew)
    try:
        await _send_all(stream, request, receive, send)
    finally:
        hub.leave(reader)
        _people[who or 0] -= 1


async def _send_all(stream: Stream, request: ASGIRequest, receive: Any, send: Any) -> None:
    """Until the stream ends, the reader goes, or takes nothing any more."""
    headers = [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-cache"),
        (b"x-accel-buffering", b"no"),
        *_shared(request),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    sending = asyncio.ensure_future(_frames(stream, send))
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, gone):
            task.cancel()
        await asyncio.gather(sending, gone, return_exceptions=True)
    if not sending.cancelled() and (error := sending.exception()) and not isinstance(error, (TimeoutError, OSError)):
        log.error("a stream broke off", error=str(error), exc_info=error)


async def _frames(stream: Stream, send: Any) -> None:
    await send(_body(_RETRY))
    async for sent in stream.frames():
        taken = asyncio.ensure_future(send(_body(sent)))
        if not (await asyncio.wait({taken}, timeout=_PATIENCE))[0]:
            # Nothing is kept for it any more. When it takes that after all, it is told to come again.
            stream.reader.give_up()
            stream.hub.leave(stream.reader)
            await asyncio.wait_for(taken, _LAST_PATIENCE)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _body(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": True}


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _need_room(admitted: Admitted) -> None:
    """Raises TooManyStreams."""
    if hub.count >= conf.get("MAX_STREAMS"):
        raise TooManyStreams()
    if admitted.user_id is not None and _people[admitted.user_id] >= conf.get("MAX_STREAMS_PER_PERSON"):
        raise TooManyStreams("You watch too many conversations at once: close a page, or come again in a while.")


def _refusal(refused: Exception, request: ASGIRequest, conversation_id: str) -> tuple[int, Headers, bytes]:
    """As the audit endpoints refuse."""
    if isinstance(refused, SuspiciousOperation):
        return 400, [], dumps(envelope("VALIDATION_ERROR", "This host is not served here.")).encode()
    answer = handle(refused, {"request": request, "kwargs": {"conversation_id": conversation_id}})
    more = [(name.lower().encode(), str(value).encode()) for name, value in answer.headers.items()]
    more = [(name, value) for name, value in more if name in (b"www-authenticate", b"retry-after")]
    if isinstance(refused, TooManyStreams):
        more.append((b"retry-after", b"10"))
    return answer.status_code, more, dumps(answer.data).encode()


async def _answer(send: Any, status: int, body: bytes, headers: Headers) -> None:
    kind = [(b"content-type", b"application/json")] if body else []
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _shared(request: ASGIRequest) -> Headers:
    """Pages of this very host may read the stream from another port, with the cookie of who is signed in."""
    origin = request.headers.get("Origin", "")
    try:
        same = urlsplit(origin).hostname == urlsplit(f"//{request.headers.get('Host', '')}").hostname
    except ValueError:
        same = False
    if not origin or not same:
        return [(b"vary", b"Origin")]
    return [
        (b"vary", b"Origin"),
        (b"access-control-allow-origin", origin.encode("latin-1", "replace")),
        (b"access-control-allow-credentials", b"true"),
    ]
