"""One event loop per process for MCP servers, in a thread of its own.

Turns run in ordinary threads; sessions with servers live as long as the process. A turn sends its request to the loop
and waits.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
#: How long the end of the process waits for sessions to end, in seconds.
_LAST_WAIT = 5.0


class Worker:
    """A loop that starts with the first call, once per process, also after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._closing: list[Callable[[], Awaitable[None]]] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result or exception of the coroutine, which must limit its own time."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop())
        return future.result()

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        self._closing.append(close)

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="mcp sessions", daemon=True).start()
                atexit.register(self._end, self._pid)
            return self._loop

    def _end(self, pid: int) -> None:
        if self._loop is None or pid != os.getpid():
            return
        for close in self._closing:
            try:
                asyncio.run_coroutine_threadsafe(_whole(close), self._loop).result(_LAST_WAIT)
            except Exception:  # noqa: S112 - the process ends; whoever listens to a closed pipe ends by itself
                continue


async def _whole(close: Callable[[], Awaitable[None]]) -> None:
    await close()


worker = Worker()
