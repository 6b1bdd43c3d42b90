"""The readers of this process: woken when something happens in their conversation, each with a bounded queue."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError, connections

from audit.live import reading
from audit.live.told import News
from convengine import conf

log = structlog.get_logger(__name__)
T = TypeVar("T")
#: News that a reader may be behind, and their bytes; events of a running turn that late comers get.
_MOST, _MOST_BYTES = 1000, 4 * 1024 * 1024
#: Conversations of one statement.
_AT_ONCE = 200
#: Threads that read for all streams of this process.
_THREADS = 2


@dataclass(eq=False)
class Reader:
    """Somebody who watches a conversation."""

    conversation_id: str
    queue: deque[News] = field(default_factory=deque)
    #: Set when there is something to do.
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    #: The database has to be looked at.
    stale: bool = True
    #: It took what it was sent too slowly, and its queue was given up.
    overrun: bool = False
    _bytes: int = 0

    def offer(self, news: News) -> None:
        """Put something in the queue; a queue that is full is given up with everything in it."""
        self._bytes += len(news.data)
        if len(self.queue) >= _MOST or self._bytes > _MOST_BYTES:
            self.give_up()
        if not self.overrun:
            self.queue.append(news)
        self.wake.set()

    def give_up(self) -> None:
        """Keep nothing for it any more: it takes what it is sent too slowly."""
        self.overrun = True
        self.queue.clear()
        self.wake.set()

    def take(self) -> News | None:
        """The next one; null when there is none."""
        if not self.queue:
            return None
        news = self.queue.popleft()
        self._bytes -= len(news.data)
        return news

    def look(self) -> None:
        """Have the database looked at."""
        self.stale = True
        self.wake.set()


@dataclass
class Channel:
    """A conversation that is watched here."""

    readers: set[Reader] = field(default_factory=set)
    #: What the turn that runs has told so far, for who comes while it runs.
    running: list[News] = field(default_factory=list)
    #: As the database was seen last.
    stood: Any = None

    def heard(self, news: News) -> None:
        """Keep what late comers need, and tell the readers."""
        if news.is_event:
            if news.previous == 0:
                self.running.clear()
            if len(self.running) < _MOST:
                self.running.append(news)
        for reader in self.readers:
            reader.offer(news)


class Hub:
    """All readers of this process. Everything but `offer`, `look` and `watches` belongs to the event loop."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        #: This process answers calls for streams.
        self.served = False
        #: Called with the conversations that are watched, when there is a new one and now and again.
        self.announce: Callable[[list[str]], None] | None = None
        #: Seconds between two looks at the database, while nobody tells what happens.
        self.every: Callable[[], float] = lambda: conf.get("STREAM_POLL_MS") / 1000
        self._loop: asyncio.AbstractEventLoop | None = None
        self._polling: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="streams")

    @property
    def count(self) -> int:
        """How many readers there are."""
        return sum(len(channel.readers) for channel in self.channels.values())

    @property
    def serves(self) -> bool:
        """True when this process has had readers: it may have them again."""
        return self._loop is not None

    def join(self, conversation_id: str) -> Reader:
        """A new reader. What the turn that runs has told is in its queue."""
        self._loop = asyncio.get_running_loop()
        reader = Reader(conversation_id)
        channel = self.channels.setdefault(conversation_id, Channel())
        channel.readers.add(reader)
        for news in channel.running:
            reader.offer(news)
        if self._polling is None or self._polling.done():
            self._polling = self._loop.create_task(self._poll())
        if self.announce:
            self.announce([conversation_id])
        return reader

    def leave(self, reader: Reader) -> None:
        """A reader has gone."""
        channel = self.channels.get(reader.conversation_id)
        if channel:
            channel.readers.discard(reader)
            if not channel.readers:
                del self.channels[reader.conversation_id]

    def watches(self, conversation_id: str) -> bool:
        """True while somebody watches a conversation here. From any thread."""
        return conversation_id in self.channels

    def offer(self, news: News) -> None:
        """Tell the readers of a conversation. From any thread; never waits."""

        def told() -> None:
            if channel := self.channels.get(news.conversation_id):
                channel.heard(news)

        self._later(told)

    def look(self, conversation_id: str) -> None:
        """Have the readers of a conversation look at the database. From any thread."""

        def looked() -> None:
            if channel := self.channels.get(conversation_id):
                channel.running.clear()
                for reader in channel.readers:
                    reader.look()

        self._later(looked)

    async def read(self, work: Callable[[], T]) -> T:
        """Ask the database something, in one of few threads, which holds no connection afterwards."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, _alone, work)

    def _later(self, work: Callable[[], Any]) -> None:
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work)

    async def _poll(self) -> None:
        while self.channels:
            names = list(self.channels)
            if self.announce:
                self.announce(names)
            for first in range(0, len(names), _AT_ONCE):
                some = names[first : first + _AT_ONCE]
                try:
                    self._stood(some, await self.read(lambda some=some: reading.stands(some)))  # type: ignore[misc]
                except DatabaseError as error:
                    log.warning("streams cannot look at the database", error=str(error))
            await asyncio.sleep(self.every())

    def _stood(self, names: list[str], found: Mapping[str, Any]) -> None:
        for name in names:
            channel = self.channels.get(name)
            if channel and channel.stood != found.get(name, ()):
                channel.stood = found.get(name, ())
                for reader in channel.readers:
                    reader.look()


def _alone(work: Callable[[], T]) -> T:
    try:
        return work()
    finally:
        connections.close_all()


hub = Hub()
