"""The HTTP transport of all calls that leave the process: guarded in where it connects, and in what it takes."""

import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

from convengine.server.outgoing.addresses import REMEDY, resolve_host
from convengine.server.outgoing.loop import run_in_thread

#: Seconds for each address of a name but the last.
_ADDRESS_SECONDS = 3.0
#: Whether a host may have an address that is not public, by its name and port.
MayBePrivate = Callable[[str, int], bool]


class AnswerRefused(httpx2.TransportError):
    """The response is not read: the message says why."""


class AnswerTooLarge(AnswerRefused):
    """The response is larger than its caller takes."""


class AnswerCompressed(AnswerRefused):
    """The response is compressed, and may be larger than it looks. To unpack it would hold up all calls."""


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Connects only to addresses that are public, or private where `may_be_private` says so, and limits responses.

    It ignores proxies of the environment. A proxy that is given finds the addresses itself. `remedy` says to people how
    an address is allowed. A stream of events that has no end is not limited where its reader limits each event.
    """

    def __init__(
        self,
        may_be_private: MayBePrivate,
        *,
        most_bytes: int,
        has_endless_events: bool = False,
        proxy: str = "",
        remedy: str = REMEDY,
    ) -> None:
        # The waiting slots limit the connections; a limit here would make calls wait for one another.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=50)
        super().__init__(verify=make_ssl_context(), trust_env=False, limits=limits, proxy=proxy or None)
        self._most_bytes = most_bytes
        self._has_endless_events = has_endless_events
        if not proxy:
            # The class takes no backend, and its pool does. If a new version names it otherwise, nothing may connect.
            assert type(self._pool) is httpcore2.AsyncConnectionPool
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=make_ssl_context(),
                max_connections=None,
                max_keepalive_connections=limits.max_keepalive_connections,
                keepalive_expiry=limits.keepalive_expiry,
                network_backend=_GuardedBackend(may_be_private, remedy),
            )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it. Raises ToolFault HOST_REFUSED and HOST_UNKNOWN, and TransportError."""
        response = await super().handle_async_request(request)
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            await response.aclose()
            raise AnswerCompressed(f"The answer has the unsupported encoding {encoding[:50]}.")
        kind = response.headers.get("content-type", "")
        is_endless = self._has_endless_events and kind.startswith("text/event-stream")
        if isinstance(response.stream, httpx2.AsyncByteStream) and not is_endless:
            response.stream = _Limited(response.stream, self._most_bytes)
        return response


@cache
def make_ssl_context() -> ssl.SSLContext:
    """The authorities that certificates are checked with: read once, because that takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class _GuardedBackend(httpcore2.AnyIOBackend):
    """Finds the addresses of a name once, checks all of them, and connects to one that was checked."""

    def __init__(self, may_be_private: MayBePrivate, remedy: str) -> None:
        self._may_be_private = may_be_private
        self._remedy = remedy

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        is_allowed = self._may_be_private(host, port)
        addresses = await run_in_thread(lambda: resolve_host(host, port, is_allowed, self._remedy))
        for address in addresses[:-1]:
            # One that drops everything leaves time for the next.
            seconds = _ADDRESS_SECONDS if timeout is None else min(timeout, _ADDRESS_SECONDS)
            try:
                return await super().connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await super().connect_tcp(addresses[-1], port, timeout, local_address, socket_options)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > self._most_bytes:
                raise AnswerTooLarge(f"The answer is larger than {self._most_bytes} bytes.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
