"""Servers of strangers that are slow or broken, each in its own way: one table of shapes, for all kinds of calls."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#: What a shape sends, as pieces with the seconds before each. It never ends by itself where it says so.
Shape = Callable[[float], AsyncIterator[tuple[float, bytes]]]


async def _drip(pause: float, text: bytes) -> AsyncIterator[tuple[float, bytes]]:
    for byte in text:
        yield pause, bytes([byte])


async def _repeat(pause: float, start: bytes, piece: bytes) -> AsyncIterator[tuple[float, bytes]]:
    yield 0, start
    while True:
        yield pause, piece


async def _say(*pieces: bytes) -> AsyncIterator[tuple[float, bytes]]:
    for piece in pieces:
        yield 0, piece


async def _wait(seconds: float, text: bytes) -> AsyncIterator[tuple[float, bytes]]:
    yield seconds, text


_NEVER = 3600.0
_OK = _HEAD + b"Content-Length: 2\r\n\r\n{}"
#: By name: what the server sends after it was asked; the argument is the pause between two pieces, in seconds.
SHAPES: dict[str, Shape] = {
    "drips the status line": lambda pause: _drip(pause, _OK),
    "drips a header": lambda pause: _repeat(pause, _HEAD + b"X-Long: ", b"a"),
    "adds headers for ever": lambda pause: _repeat(pause, _HEAD, b"X-More: 1\r\n"),
    "trickles 102 Processing": lambda pause: _repeat(pause, b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "trickles 100 Continue": lambda pause: _repeat(pause, b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "trickles 103 with headers": lambda pause: _repeat(pause, b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "drips the body": lambda pause: _repeat(pause, _HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "drips chunks": lambda pause: _repeat(pause, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "drips the size of a chunk": lambda pause: _repeat(pause, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "drips the extension of a chunk": lambda pause: _repeat(
        pause, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;", b"a"
    ),
    "drips trailers": lambda pause: _repeat(
        pause, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X: 1\r\n"
    ),
    "stops in the body": lambda pause: _repeat(_NEVER, _HEAD + b"Content-Length: 100000\r\n\r\n{", b""),
    "stops in the headers": lambda pause: _repeat(_NEVER, _HEAD, b""),
    "never answers": lambda pause: _wait(_NEVER, b""),
    "answers late": lambda pause: _wait(pause * 8, _OK),
    "hangs up": lambda pause: _say(b""),
    "hangs up in the headers": lambda pause: _say(_HEAD),
    "speaks no HTTP": lambda pause: _say(b"220 mail.example ESMTP\r\n"),
    "sends without an end": lambda pause: _repeat(0.001, _HEAD + b"\r\n", b"a" * 65536),
    "drips without a length": lambda pause: _repeat(pause, _HEAD + b"Connection: close\r\n\r\n", b" "),
}
#: Before it is asked: it takes a connection and reads nothing.
READS_NOTHING = "reads nothing"
NAMES = (*SHAPES, READS_NOTHING)


@dataclass
class Stranger:
    """A running server of one shape."""

    address: str = ""
    port: int = 0
    asked: int = 0
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)


@contextmanager
def meet(*names: str, pause: float = 0.2) -> Iterator[list[Stranger]]:
    """Servers of these shapes, on ports of their own, in one thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    servers: list[asyncio.Server] = []

    async def start(name: str) -> Stranger:
        stranger = Stranger()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            stranger._tasks.add(task)
            stranger.asked += 1
            with suppress(OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
                await _answer(name, pause, reader, writer)
            writer.transport.abort()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1024)
        servers.append(server)
        stranger.port = server.sockets[0].getsockname()[1]
        stranger.address = f"http://127.0.0.1:{stranger.port}"
        return stranger

    async def stop(strangers: list[Stranger]) -> None:
        # A connection that a closed server takes, and a task that was never begun, would stay open.
        for server in servers:
            loop.remove_reader(server.sockets[0])
        while running := asyncio.all_tasks() - {asyncio.current_task()}:
            for stranger in strangers:
                for task in stranger._tasks:
                    task.cancel()
            await asyncio.wait(running, timeout=0.01)
        for server in servers:
            server.close()

    strangers = [asyncio.run_coroutine_threadsafe(start(name), loop).result(5) for name in names]
    try:
        yield strangers
    finally:
        asyncio.run_coroutine_threadsafe(stop(strangers), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _answer(name: str, pause: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if name == READS_NOTHING:
        await asyncio.sleep(_NEVER)
    head = b""
    while b"\r\n\r\n" not in head:
        head += await reader.readexactly(1)
    async for seconds, piece in SHAPES[name](pause):
        await asyncio.sleep(seconds)
        writer.write(piece)
        await writer.drain()


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """What is inside takes no longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"It took {took:.1f} s, and {seconds:.1f} s at most were allowed."
