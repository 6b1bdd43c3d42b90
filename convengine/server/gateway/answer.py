"""The answer of the WSGI application, which a thread makes and the event loop sends: a slow reader holds no thread."""

import asyncio
import io
import itertools
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

import structlog

from convengine.server.gateway.limits import Caller, Transfers

log = structlog.get_logger(__name__)

Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
#: An answer up to this size is sent at once; a larger one in such parts, as its reader takes them.
_AT_ONCE, _PART = 64 * 1024, 32 * 1024
#: An answer that is larger breaks off.
_LARGEST = 4 * 1024**3


class File:
    """A file that the event loop reads by itself, from where the application left it."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._offset = file.tell()
        # A descriptor of our own, because the application's answer is closed in its thread.
        self._descriptor = os.dup(file.fileno())

    async def parts(self) -> AsyncGenerator[bytes, None]:
        try:
            while part := os.pread(self._descriptor, _PART, self._offset):
                self._offset += len(part)
                yield part
        finally:
            os.close(self._descriptor)


class Download:
    """A large answer on its way through a file: a thread writes it at its own speed, the event loop reads."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `parts` closes it
        self._lock = threading.Lock()
        self._changed = asyncio.Event()
        self._written = 0
        self._is_complete = False
        self._is_abandoned = False

    def write(self, data: bytes) -> None:
        """Add a part. Raises BrokenPipeError when nobody reads any more, or when it grows too large."""
        with self._lock:
            if self._is_abandoned or self._written + len(data) > _LARGEST:
                raise BrokenPipeError
            self._file.seek(self._written)
            self._file.write(data)
            self._written += len(data)
        self._wake()

    def complete(self) -> None:
        """The last part is written."""
        self._is_complete = True
        self._wake()

    def abandon(self) -> None:
        """There will be no more parts, although the answer is not complete."""
        self._is_abandoned = True
        self._wake()

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._changed.set)

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """The parts in order. Raises BrokenPipeError when the answer ends before it is complete."""
        read = 0
        try:
            while True:
                self._changed.clear()
                was_complete = self._is_complete
                with self._lock:
                    self._file.seek(read)
                    part = self._file.read(_PART)
                if part:
                    read += len(part)
                    yield part
                elif was_complete:
                    return
                elif self._is_abandoned and not self._is_complete:
                    raise BrokenPipeError
                else:
                    await self._changed.wait()
        finally:
            with self._lock:
                self._is_abandoned = True
                self._file.close()


class GatewayAnswer:
    """Status, headers and body; the body is complete, a file, or still being written."""

    def __init__(self, status: int, headers: Headers, body: bytes | File | Download) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    async def send(self, send: Send, transfers: Transfers, caller: Caller) -> None:
        """Send it. Raises TimeoutError or TooManyUnfinished for a slow reader: the connection must be closed."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        if isinstance(self.body, bytes):
            await send({"type": "http.response.body", "body": self.body})
            return
        async with aclosing(self.body.parts()) as parts:
            async for part in parts:
                # Only the reader's time counts, not that of the thread which writes.
                async with transfers.start(caller):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def make_answer(
    application: Callable[..., Any],
    environ: dict[str, Any],
    loop: asyncio.AbstractEventLoop,
    deliver: Callable[[GatewayAnswer], None],
) -> None:
    """Call the application in this thread, and deliver its answer once: when it is complete, or too large to wait for.

    The application's answer is always closed: Django then releases what the request used.
    """
    status, headers = 500, Headers()

    def start_response(line: str, pairs: list[tuple[str, str]], exc_info: Any = None) -> None:
        nonlocal status, headers
        status = int(line[:3])
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]

    chunks = application(environ, start_response)
    try:
        file = getattr(chunks, "file_to_stream", None)
        if isinstance(file, io.BufferedReader):
            answer = GatewayAnswer(status, headers, File(file))
        else:
            answer = GatewayAnswer(status, headers, b"")
            complete = _collect(chunks, lambda download: deliver(GatewayAnswer(status, headers, download)), loop)
            if complete is None:
                return
            answer.body = complete
    finally:
        if hasattr(chunks, "close"):
            chunks.close()
    deliver(answer)


def _collect(
    chunks: Iterable[bytes], start_download: Callable[[Download], None], loop: asyncio.AbstractEventLoop
) -> bytes | None:
    """The body. Returns None for a large one, which is written into a download meanwhile."""
    parts: list[bytes] = []
    size = 0
    rest = iter(chunks)
    for chunk in rest:
        parts.append(chunk)
        size += len(chunk)
        if size > _AT_ONCE:
            break
    else:
        return b"".join(parts)
    download = Download(loop)
    start_download(download)
    try:
        for part in itertools.chain(parts, rest):
            download.write(part)
        download.complete()
    except BrokenPipeError:
        log.debug("answer not read to its end")
    finally:
        download.abandon()
    return None
