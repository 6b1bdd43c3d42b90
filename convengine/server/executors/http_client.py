"""Make HTTP calls: guarded, limited in size and time as a whole, with retries and a circuit breaker.

It follows no redirects, keeps no cookies and ignores proxies of the environment.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json
from convengine.server.database.sql import release_connections
from convengine.server.deployment.secrets import MASK, SHORTEST, mask_secrets
from convengine.server.executors.http_connections import HttpConnection, HttpTarget
from convengine.server.executors.http_policy import HttpPolicy
from convengine.server.outgoing.loop import outgoing
from convengine.server.resilience.circuit import CircuitOpen, Circuits
from convengine.server.resilience.time_left import clip_seconds

if TYPE_CHECKING:
    import httpx2

    from convengine.server.outgoing.transport import GuardedTransport

#: Maximum size of a response.
MAX_BODY = 1024 * 1024
BODILESS = frozenset({"GET", "HEAD", "DELETE"})
#: Headers that the connection and this module set.
_RESERVED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding"}
)
_MESSAGE = 200


@dataclass(frozen=True)
class HttpCall:
    """One call with all values filled in."""

    target: HttpTarget
    method: str
    policy: HttpPolicy
    #: The circuit's name: the tool.
    name: str
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Null values and blank names are left out.
    query: Mapping[str, Json] = field(default_factory=dict)
    body: Json = None
    #: The same for every attempt.
    idempotency_key: str = ""


@dataclass(frozen=True)
class HttpAnswer:
    """A successful response."""

    status: int
    body: bytes
    attempt: int
    latency_ms: int


circuits = Circuits()


def send(call: HttpCall) -> HttpAnswer:
    """The response with status 2xx, while this thread waits and holds no connection.

    Raises ToolFault: CIRCUIT_OPEN, HOST_…, HTTP_STATUS, HTTP_TIMEOUT, HTTP_IO, …
    """
    release_connections()
    seconds = clip_seconds(call.policy.longest_ms / 1000)
    try:
        return outgoing.run(fetch(call), seconds)
    except TimeoutError as error:
        raise ToolFault("HTTP_TIMEOUT", f"{call.target.authority} took longer than {seconds * 1000:.0f} ms.") from error


async def fetch(call: HttpCall) -> HttpAnswer:
    """Make the call in the loop of outgoing calls, through its circuit if the policy has one. Raises ToolFault."""
    policy = call.policy
    if not policy.circuit_breaker_enabled:
        return await _repeat_attempts(call)
    circuit = circuits.of(call.name)
    try:
        with circuit.call(policy.circuit_failure_threshold, policy.circuit_open_ms) as attempt:
            try:
                answer = await _repeat_attempts(call)
            except _Failed as failed:
                attempt.failed = failed.counts or None
                raise
            attempt.failed = False
            return answer
    except CircuitOpen as error:
        raise ToolFault("CIRCUIT_OPEN", f"The system behind this tool is not called. {error}") from error


class _Failed(ToolFault):
    """A failed attempt. `again` allows another one; `counts`: the circuit takes it for a failure of the system."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        again: bool,
        counts: bool,
        status: int | None = None,
        retry_after: str | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(code, message)
        self.again = again
        self.counts = counts
        self.status = status
        self.retry_after = retry_after
        self.body = body


async def _repeat_attempts(call: HttpCall) -> HttpAnswer:
    """Attempt the call until it succeeds, or fails in a way that allows no other attempt, or was tried often enough."""
    started, most = time.monotonic(), call.policy.attempts(call.method)
    for attempt in range(1, most + 1):
        try:
            status, body = await _attempt_once(call)
        except _Failed as failed:
            if attempt == most or not failed.again:
                raise
            await asyncio.sleep(call.policy.backoff_ms(attempt, failed.retry_after) / 1000)
        else:
            return HttpAnswer(status, body, attempt, round((time.monotonic() - started) * 1000))
    raise AssertionError("the last attempt returns or raises")


async def _attempt_once(call: HttpCall) -> tuple[int, bytes]:
    """Make one attempt. Returns the status, which is 2xx, and the body without the secret. Raises ToolFault."""
    import httpx2

    from convengine.server.outgoing.transport import AnswerRefused, AnswerTooLarge

    target, policy = call.target, call.policy
    try:
        request = _build_request(call)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        # Such as a header whose value has letters beyond Latin, or half of a character in the query.
        raise ToolFault("REQUEST_INVALID", f"The request cannot be made: {type(error).__name__}.") from error
    try:
        async with asyncio.timeout((policy.connect_timeout_ms + policy.read_timeout_ms) / 1000):
            response = await _make_transport(target.connection, os.getpid()).handle_async_request(request)
            try:
                body = b"".join([chunk async for chunk in response.aiter_raw()])
            finally:
                await response.aclose()
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise _Failed(
            "HTTP_TIMEOUT",
            f"{target.authority} did not answer in time.",
            again=policy.retry_on_io_exception,
            counts=True,
        ) from error
    except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol) as error:
        raise ToolFault("REQUEST_INVALID", f"The request cannot be made: {mask_secrets(str(error))}") from error
    except AnswerTooLarge as error:
        raise ToolFault("BODY_TOO_LARGE", str(error)) from error
    except AnswerRefused as error:
        raise ToolFault("HTTP_ANSWER", str(error)) from error
    except httpx2.TransportError as error:
        text = f"{target.authority} could not be reached: {type(error).__name__}: {error}"
        raise _Failed("HTTP_IO", text, again=policy.retry_on_io_exception, counts=True) from error
    secret = target.connection.secret
    # Some services repeat it. A very short one is not masked.
    if len(secret) >= SHORTEST:
        body = body.replace(secret.encode(), MASK.encode())
    return _check_response(call, response, body)


def _check_response(call: HttpCall, response: "httpx2.Response", body: bytes) -> tuple[int, bytes]:
    """The status and the body of a response with status 2xx. Raises _Failed for any other."""
    status, host = response.status_code, call.target.authority
    if 200 <= status < 300:
        return status, body
    if 300 <= status < 400:
        where = response.headers.get("location", "")[:_MESSAGE]
        text = f"{host} answers with a redirect ({status}) to {where or 'nowhere'}; redirects are not followed."
        raise _Failed("REDIRECT_REFUSED", text, again=False, counts=False)
    detail = body[: _MESSAGE * 4].decode("utf-8", "replace").strip()[:_MESSAGE]
    raise _Failed(
        "HTTP_STATUS",
        f"{host} answered {status}{': ' + detail if detail else ''}",
        again=status in call.policy.retry_status_codes,
        counts=status >= 500 or status == 429,
        status=status,
        retry_after=response.headers.get("retry-after"),
        body=body,
    )


def _build_request(call: HttpCall) -> "httpx2.Request":
    """The request as it is sent. Raises ToolFault HEADER_REFUSED, and errors of the client for unusable values."""
    import httpx2

    target = call.target
    host = f"[{target.host}]" if ":" in target.host else target.host
    query = "&".join(part for part in (target.query, urlencode(_list_query_pairs(call.query))) if part)
    content = None
    if call.body is not None and call.method not in BODILESS:
        # A text as it is, anything else as JSON.
        content = (call.body if isinstance(call.body, str) else dumps(call.body)).encode()
    return httpx2.Request(
        call.method,
        f"{target.scheme}://{host}:{target.port}{target.path}{'?' + query if query else ''}",
        headers=_build_headers(call),
        content=content,
        extensions={"timeout": {"connect": call.policy.connect_timeout_ms / 1000}},
    )


def _build_headers(call: HttpCall) -> list[tuple[str, str]]:
    """The headers of a call. The credentials are added only for the connection's own address.

    Raises ToolFault HEADER_REFUSED for a header that is reserved, or could begin another one.
    """
    for name, value in call.headers.items():
        if name.lower() in _RESERVED or not name.isascii() or any(sign in f"{name}{value}" for sign in "\r\n\x00"):
            raise ToolFault("HEADER_REFUSED", f"The header {name!r} must not be set, or not to this value.")
    given = {name.lower() for name in call.headers}
    headers = [("Host", call.target.authority), ("Accept-Encoding", "identity"), *call.headers.items()]
    if "user-agent" not in given:
        headers.append(("User-Agent", "convengine"))
    if call.method not in BODILESS and call.body is not None and "content-type" not in given:
        headers.append(("Content-Type", "application/json"))
    if call.idempotency_key and call.method not in BODILESS:
        headers.append(("Idempotency-Key", call.idempotency_key))
    return [*headers, *(call.target.connection.credentials().items() if call.target.own else ())]


def _list_query_pairs(query: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The names and values of a query; a list gives one pair for each item. Blank names and null are left out."""
    pairs = []
    for name, value in query.items():
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if name.strip() and item is not None:
                pairs.append((name, str(item).lower() if isinstance(item, bool) else str(item)))
    return pairs


def idempotency_key(*parts: Json) -> str:
    """A key that is equal for the same call in every attempt of a turn."""
    return hashlib.sha256(dumps(parts).encode()).hexdigest()[:32]


@cache
def _make_transport(connection: HttpConnection, pid: int) -> "GuardedTransport":
    """One per connection and process: connections are reused."""
    from convengine.server.outgoing.transport import GuardedTransport

    transport = GuardedTransport(connection.may_be_private, most_bytes=MAX_BODY)
    outgoing.at_end(transport.aclose)
    return transport


__all__ = ["BODILESS", "HttpAnswer", "HttpCall", "HttpConnection", "circuits", "fetch", "idempotency_key", "send"]
