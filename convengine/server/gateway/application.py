"""The ASGI application that serves a WSGI application: an unfinished request or a slow reader holds no thread.

Bodies are read in the event loop, within their limits of size and time, before a thread is taken.
"""

import asyncio
import io
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import IO, Any

import structlog

from convengine.engine.errors import ConvEngineError, RequestInvalid, RequestTimeout, RequestTooLarge, ServerOverloaded
from convengine.engine.turn.codec import dumps
from convengine.server.deployment import conf
from convengine.server.deployment.request_id import HEADER, make_request_id
from convengine.server.gateway.answer import GatewayAnswer, Send, make_answer
from convengine.server.gateway.environ import build_environ
from convengine.server.gateway.limits import Caller, TooManyUnfinished, TransferLimits, Transfers
from convengine.server.gateway.threads import RequestThreads
from convengine.server.observability import metrics
from convengine.server.observability.sampler import sampler
from convengine.server.probes import ADDRESSES as PROBES
from convengine.server.probes import ALL_THREADS_STAND
from convengine.server.resilience.waiting import Overloaded
from convengine.server.turns.failure import error_body

log = structlog.get_logger(__name__)
_API = "/api/"
_INCOMPLETE = "The body is not complete: the connection ended, or its chunks are not those of HTTP."
#: Room for the parts of a form around an uploaded file.
_FORM_BYTES = 64 * 1024
#: Threads for each probe, which is answered however busy the others are; and the most that wait for one.
_PROBE_THREADS, _PROBES_QUEUED = 2, 50
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
#: A larger body is in a file.
_IN_MEMORY = 64 * 1024


class Gateway:
    """Reads requests within limits, runs them in a fixed number of threads, and sends the answers."""

    def __init__(self, application: Callable[..., Any]) -> None:
        self._application = application
        self._threads = RequestThreads(conf.get("THREADS"), conf.get("MAX_QUEUED"))
        self._probe_threads = {address: RequestThreads(_PROBE_THREADS, _PROBES_QUEUED) for address in PROBES}
        self._transfers = Transfers(TransferLimits.read())
        self._largest_body = max(conf.get("MAX_IMPORT_BYTES"), conf.get("MAX_REQUEST_BYTES")) + _FORM_BYTES
        sampler.add(self._sample)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request. A connection that must be closed, or is closed, just ends."""
        if scope["type"] != "http":
            return
        caller = Caller.of(scope)
        try:
            with ExitStack() as resources:
                answer = await self._answer(scope, receive, caller, resources)
                await answer.send(send, self._transfers, caller)
        # The server closes a connection whose answer is not complete.
        except (TimeoutError, TooManyUnfinished):
            metrics.REQUESTS_REFUSED.add("ANSWER_NOT_READ")
            log.info("answer not read in time", address=caller.address, path=scope["path"])
        except BrokenPipeError:
            log.warning("answer broke off", path=scope["path"])

    def count(self) -> Mapping[str, Mapping[str, int]]:
        """The threads and the transfers of this process, for metrics."""
        return {"threads": self._threads.count(), "transfers": self._transfers.count()}

    def _sample(self) -> None:
        count = self.count()
        for state in ("running", "queued", "resuming", "limit"):
            metrics.REQUEST_THREADS.set(count["threads"][state], state)
        metrics.TRANSFERS_UNFINISHED.set(count["transfers"]["unfinished"])

    async def _answer(
        self, scope: Mapping[str, Any], receive: Receive, caller: Caller, resources: ExitStack
    ) -> GatewayAnswer:
        try:
            size = announced_size(scope["headers"], scope["http_version"])
            body, count = await read_body(receive, size, self._largest_body, self._transfers, caller, resources)
        except BodyIncomplete:
            # A caller that is gone reads nothing; one whose chunks are wrong waits.
            return _refuse(scope, RequestInvalid(_INCOMPLETE, fields={"body": [_INCOMPLETE]}))
        except BodyTooLarge as large:
            return _refuse(scope, RequestTooLarge.of("body", large.size, self._largest_body, "data"))
        except TimeoutError:
            return _refuse(scope, RequestTimeout())
        except TooManyUnfinished:
            return _refuse(scope, ServerOverloaded())
        try:
            return await self._run(build_environ(scope, body, count))
        except Overloaded:
            return _refuse(scope, ServerOverloaded())

    async def _run(self, environ: dict[str, Any]) -> GatewayAnswer:
        """Run the application in a thread. Raises Overloaded when too many requests wait for one."""
        loop = asyncio.get_running_loop()
        delivered: asyncio.Future[GatewayAnswer] = loop.create_future()

        def run() -> None:
            try:
                make_answer(self._application, environ, loop, lambda answer: _deliver(loop, delivered, answer))
            except BaseException as error:
                # Django answers all exceptions of views: this is a fault of a middleware or of the server, or code that
                # tries to end the process.
                log.error("request failed outside of the application", exc_info=error)
                _deliver(
                    loop, delivered, GatewayAnswer(500, [(b"content-type", b"text/plain")], b"Internal Server Error")
                )

        environ[ALL_THREADS_STAND] = self._threads.all_stand()
        self._probe_threads.get(environ["PATH_INFO"], self._threads).submit(run)
        return await delivered


def _deliver(
    loop: asyncio.AbstractEventLoop, delivered: "asyncio.Future[GatewayAnswer]", answer: GatewayAnswer
) -> None:
    loop.call_soon_threadsafe(_set_result, delivered, answer)


def _set_result(delivered: "asyncio.Future[GatewayAnswer]", answer: GatewayAnswer) -> None:
    if not delivered.done():
        delivered.set_result(answer)


def _refuse(scope: Mapping[str, Any], error: ConvEngineError) -> GatewayAnswer:
    """The answer to a request that was not run: the API's failure, or a line of text. The connection is closed."""
    metrics.REQUESTS_REFUSED.add(error.code)
    headers = [(b"connection", b"close"), (b"cache-control", b"no-store")]
    if error.status == ServerOverloaded.status:
        headers.append((b"retry-after", b"1"))
    if not scope["path"].startswith(_API):
        return GatewayAnswer(
            error.status, [*headers, (b"content-type", b"text/plain; charset=utf-8")], error.message.encode()
        )
    request_id = make_request_id(None)
    headers += [(b"content-type", b"application/json"), (HEADER.lower().encode(), request_id.encode())]
    log.info("api call refused", code=error.code, path=scope["path"], request_id=request_id)
    return GatewayAnswer(error.status, headers, dumps(error_body(error)).encode())


class BodyIncomplete(Exception):
    """The connection ended, or a chunk was wrong, before the request was complete."""


class BodyTooLarge(Exception):
    """The body is larger than allowed; `size` is null if it was not announced."""

    def __init__(self, size: int | None) -> None:
        super().__init__()
        self.size = size


def announced_size(headers: Iterable[tuple[bytes, bytes]], http_version: str = "1.1") -> int | None:
    """The announced size of the body: 0 without one. Returns None for one that comes in chunks.

    A request of HTTP/2 may have a body although no header says so.
    """
    size: int | None = None if http_version.startswith("2") else 0
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            size = int(value) if value.isdigit() else None
    return size


async def read_body(
    receive: Receive, size: int | None, limit: int, transfers: Transfers, caller: Caller, resources: ExitStack
) -> tuple[IO[bytes], int]:
    """The body and its size. `resources` closes its file.

    Raises BodyTooLarge, BodyIncomplete, TimeoutError, TooManyUnfinished.
    """
    if size == 0:
        return io.BytesIO(), 0
    if size is not None and size > limit:
        raise BodyTooLarge(size)
    body: IO[bytes] = io.BytesIO()
    count = 0
    held = resources.enter_context(transfers.hold_bytes())
    async with transfers.start(caller) as transfer:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise BodyIncomplete
            part: bytes = message.get("body", b"")
            count += len(part)
            if count > limit:
                raise BodyTooLarge(None)
            held.add(len(part))
            if count > _IN_MEMORY and isinstance(body, io.BytesIO):
                file = resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                file.write(body.getvalue())
                body = file
            body.write(part)
            if not message.get("more_body"):
                body.seek(0)
                return body, count
            transfer.advance(len(part))
