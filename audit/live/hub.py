"""The readers of this process, each with a limited queue and a wake-up."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError, connections

from audit.live import read_events
from audit.live.messages import StreamMessage
from convengine.server.deployment import conf
from convengine.server.observability import metrics

log = structlog.get_logger(__name__)
T = TypeVar("T")
#: Limits of a reader's queue, in messages and bytes.
_MOST, _MOST_BYTES = 1000, 4 * 1024 * 1024
#: Conversations per statement.
_AT_ONCE = 200
#: Threads that read for all streams of this process.
_THREADS = 2


@dataclass(eq=False)
class Reader:
    """A reader of a conversation."""

    conversation_id: str
    queue: deque[StreamMessage] = field(default_factory=deque)
    #: Set when there is something to do.
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    #: The database must be read.
    stale: bool = True
    #: It read too slowly, and its queue was dropped.
    overrun: bool = False
    _bytes: int = 0

    def offer(self, message: StreamMessage) -> None:
        """Add to the queue; a full queue is dropped completely."""
        self._bytes += len(message.data)
        if len(self.queue) >= _MOST or self._bytes > _MOST_BYTES:
            self.give_up()
        if not self.overrun:
            self.queue.append(message)
        self.wake.set()

    def give_up(self) -> None:
        """Drop the queue of a slow reader."""
        self.overrun = True
        self.queue.clear()
        self.wake.set()

    def take(self) -> StreamMessage | None:
        """The next message, or null."""
        if not self.queue:
            return None
        message = self.queue.popleft()
        self._bytes -= len(message.data)
        return message

    def refresh(self) -> None:
        """Make it read the database."""
        self.stale = True
        self.wake.set()


@dataclass
class Channel:
    """A conversation that is watched here."""

    readers: set[Reader] = field(default_factory=set)
    #: The last seen state of the database.
    version: Any = None


class Hub:
    """All readers of this process. Everything except `offer`, `look` and `watches` belongs to the event loop."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        #: This process serves streams.
        self.is_served = False
        #: Seconds between two reads of the database without messages.
        self.every: Callable[[], float] = lambda: conf.get("STREAM_POLL_MS") / 1000
        self._loop: asyncio.AbstractEventLoop | None = None
        self._polling: asyncio.Task[None] | None = None
        #: When each conversation was marked as watched.
        self._marked: dict[str, float] = {}
        self._marking: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="streams")

    @property
    def count(self) -> int:
        """The number of readers."""
        return sum(len(channel.readers) for channel in self.channels.values())

    @property
    def serves(self) -> bool:
        """True when this process has had readers and may have some again."""
        return self._loop is not None

    def join(self, conversation_id: str) -> Reader:
        """A new reader."""
        self._loop = asyncio.get_running_loop()
        reader = Reader(conversation_id)
        channel = self.channels.setdefault(conversation_id, Channel())
        channel.readers.add(reader)
        metrics.STREAM_READERS.set(self.count)
        if self._polling is None or self._polling.done():
            self._polling = self._loop.create_task(self._poll())
        elif conversation_id not in self._marked:
            # A turn that starts before the next poll must know.
            marking = self._loop.create_task(self._mark_watched([conversation_id]))
            self._marking.add(marking)
            marking.add_done_callback(self._marking.discard)
        return reader

    def leave(self, reader: Reader) -> None:
        """Remove a reader."""
        channel = self.channels.get(reader.conversation_id)
        if channel:
            channel.readers.discard(reader)
            if not channel.readers:
                del self.channels[reader.conversation_id]
            metrics.STREAM_READERS.set(self.count)

    def watches(self, conversation_id: str) -> bool:
        """True while somebody watches a conversation here. Thread-safe."""
        return conversation_id in self.channels

    def offer(self, message: StreamMessage) -> None:
        """Notify the readers of a conversation. Thread-safe; never waits."""

        def deliver() -> None:
            if channel := self.channels.get(message.conversation_id):
                for reader in channel.readers:
                    reader.offer(message)

        self._run_in_loop(deliver)

    def refresh(self, conversation_id: str) -> None:
        """Make the readers of a conversation read the database. Thread-safe."""

        def refresh() -> None:
            if channel := self.channels.get(conversation_id):
                for reader in channel.readers:
                    reader.refresh()

        self._run_in_loop(refresh)

    async def read(self, work: Callable[[], T]) -> T:
        """Query the database in one of a few threads, which releases its connection afterwards."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, _read_and_release, work)

    def _run_in_loop(self, work: Callable[[], Any]) -> None:
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work)

    async def _poll(self) -> None:
        while self.channels:
            names = list(self.channels)
            for first in range(0, len(names), _AT_ONCE):
                some = names[first : first + _AT_ONCE]
                try:
                    await self._mark_watched(some)
                    self._store_versions(some, await self.read(lambda some=some: read_events.read_versions(some)))  # type: ignore[misc]
                except DatabaseError as error:
                    log.warning("streams cannot look at the database", error=str(error))
            await asyncio.sleep(min(self.every(), read_events.WATCHED_SECONDS / 3))

    async def _mark_watched(self, names: Sequence[str]) -> None:
        """Mark watched conversations, so that turns of other processes store their events while they run."""
        now = time.monotonic()
        due = [name for name in names if self._marked.get(name, 0.0) < now - read_events.WATCHED_SECONDS / 3]
        if due:
            try:
                await self.read(lambda: read_events.mark_watched(due))
            except DatabaseError as error:
                log.warning("streams cannot mark conversations as watched", error=str(error))
                return
            marked = {**self._marked, **dict.fromkeys(due, now)}
            self._marked = {name: at for name, at in marked.items() if name in self.channels}

    def _store_versions(self, names: list[str], versions: Mapping[str, Any]) -> None:
        for name in names:
            channel = self.channels.get(name)
            if channel and channel.version != versions.get(name, ()):
                channel.version = versions.get(name, ())
                for reader in channel.readers:
                    reader.refresh()


def _read_and_release(work: Callable[[], T]) -> T:
    try:
        return work()
    finally:
        connections.close_all()


hub = Hub()
