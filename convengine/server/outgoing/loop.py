"""The event loop of this process in which calls run that leave it.

A thread that calls something outside waits here. A call that is late is cancelled: its connection is closed, and
nothing of it goes on. Limits of sockets would not do: they hold for one read, so a byte a second is never late.
"""

import asyncio
import atexit
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
#: How long the end of the process waits for each session to end, in seconds.
_LAST_WAIT = 5.0
#: Seconds after its deadline in which a call that was cancelled has to close its connection.
_GRACE = 1.0


class OutgoingLoop:
    """A loop that starts with the first call, once per process."""

    def __init__(self) -> None:
        self._begin_anew()
        if hasattr(os, "register_at_fork"):
            # What its parent has open stays the parent's: to close it here would close it there.
            os.register_at_fork(after_in_child=self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: list[Callable[[], Awaitable[None]]] = []
        #: The limits of the calls that run.
        self._limits: set[asyncio.Timeout] = set()
        #: When the last call ends, because the process is about to.
        self._last = math.inf

    def run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """The result or exception of the coroutine; TimeoutError when it takes longer than `seconds`."""
        future = self.start(self._limit(work, seconds))
        try:
            return future.result(seconds + _GRACE)
        except TimeoutError:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begin a coroutine that limits its own time. Waits for nothing."""
        return asyncio.run_coroutine_threadsafe(work, self.loop())

    def hurry(self, seconds: float) -> None:
        """Let no call take longer than `seconds` from now on: the process is about to end."""
        self._last = time.monotonic() + seconds
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._shorten_limits, self._loop.time() + seconds)

    def _shorten_limits(self, ends: float) -> None:
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(min(limit.when() or ends, ends))

    async def _limit(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        # Read here, where `hurry` shortens those that run: none begins between.
        async with asyncio.timeout(max(min(seconds, self._last - time.monotonic()), 0.001)) as limit:
            self._limits.add(limit)
            try:
                return await work
            finally:
                self._limits.discard(limit)

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        self._closing.append(close)

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="outgoing calls", daemon=True).start()
                atexit.register(self._end)
            return self._loop

    def _end(self) -> None:
        if self._loop is None:
            return
        for close in self._closing:
            try:
                self.run(_await(close), _LAST_WAIT)
            except Exception:  # noqa: S112 - the process ends; a reader of a closed pipe ends by itself
                continue


async def _await(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def run_in_thread(work: Callable[[], T]) -> T:
    """Wait for something that only blocks, such as the name server, in a thread that ends with the process.

    The thread cannot be stopped: what is late still finishes, and its result is lost.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

    threading.Thread(target=run, name="outgoing call", daemon=True).start()
    # Shielded, so that a late result finds its future as it was.
    return await asyncio.shield(asyncio.wrap_future(outcome))


outgoing = OutgoingLoop()
