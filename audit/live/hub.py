"""Waiting for something new: readers sleep until they are woken, by a turn of this process, the bus, or the poll.

The poll reads one statement for all watched conversations of this process, and also marks them as watched, so that
turns of other processes store their events while they run (`audit.record.running`). Progress texts, which are not
stored, go to the readers directly, and with the wake-up to those of other processes.
"""

import asyncio
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError, InterfaceError, connections

from audit.live import read_events
from audit.live.messages import encode_progress
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.server.deployment import conf
from convengine.server.deployment.redis_client import make_redis_client
from convengine.server.observability import metrics

log = structlog.get_logger(__name__)
_CHANNEL = "convengine:live"
#: Seconds between two attempts to reach the bus.
_AGAIN = 2.0
#: Maximum wake-ups that wait to be sent.
_WAITING = 2000
#: Larger progress texts are not sent.
_LARGEST = 512 * 1024
_CONNECTION = {"socket_connect_timeout": 5, "socket_timeout": None, "health_check_interval": 30}


class Bus:
    """This process on the bus: a thread that sends, and one that receives. A turn never waits for it."""

    def __init__(self, url: str, on_wake: Callable[[str, str], None]) -> None:
        self._url = url
        self._sender = uuid.uuid4().hex
        self._on_wake = on_wake
        self._out: queue.Queue[str] = queue.Queue(_WAITING)

    def start(self) -> None:
        """Start both threads. They end with the process."""
        for work in (self._send, self._listen):
            threading.Thread(target=self._repeat, args=(work,), name="live bus", daemon=True).start()

    def wake(self, conversation_id: str, progress: str) -> None:
        """Wake the readers of a conversation in other processes."""
        text = dumps([self._sender, conversation_id, progress])
        if len(text) <= _LARGEST:
            try:
                self._out.put_nowait(text)
            except queue.Full:
                log.warning("the live bus is too slow; viewers read from the database")

    def _repeat(self, work: Callable[[Any], None]) -> None:
        """Work until the connection is lost, then again."""
        import redis

        while True:
            try:
                work(make_redis_client(self._url, **_CONNECTION))
            except (redis.RedisError, OSError) as error:
                log.warning("the live bus is out of reach", error=str(error))
                time.sleep(_AGAIN)

    def _send(self, client: Any) -> None:
        while True:
            client.publish(_CHANNEL, self._out.get())

    def _listen(self, client: Any) -> None:
        with client.pubsub(ignore_subscribe_messages=True) as subscribed:
            subscribed.subscribe(_CHANNEL)
            for message in subscribed.listen():
                try:
                    sender, conversation_id, progress = loads(message["data"])
                except (ValueError, TypeError) as error:
                    log.warning("not understood on the live bus", error=str(error))
                    continue
                if sender != self._sender:
                    self._on_wake(str(conversation_id), str(progress))


T = TypeVar("T")
#: Limits of the progress texts that wait for a reader, in texts and characters.
_MOST, _MOST_CHARS = 1000, 4 * 1024 * 1024
#: Conversations per statement.
_AT_ONCE = 200
#: Threads that read for all streams of this process.
_THREADS = 2
#: Seconds between two marks of a watched conversation, and between two polls where a bus wakes.
_MARK_EVERY, _POLL_BESIDE_BUS = read_events.WATCHED_SECONDS / 3, 2.0


@dataclass(eq=False)
class Reader:
    conversation_id: str
    #: Progress texts to send.
    progress: deque[str] = field(default_factory=deque)
    #: Set when there is something to do.
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    #: The database must be read.
    stale: bool = True
    #: It read too slowly, and its texts were dropped.
    overrun: bool = False
    #: The state of the database that the poll saw last.
    version: Any = None

    def wake(self, progress: str = "") -> None:
        """Let it send a progress text, or read the database. A reader with too many texts gets none any more."""
        if not progress:
            self.stale = True
        elif len(self.progress) >= _MOST or sum(map(len, self.progress)) + len(progress) > _MOST_CHARS:
            self.give_up()
        elif not self.overrun:
            self.progress.append(progress)
        self.woken.set()

    def give_up(self) -> None:
        self.overrun = True
        self.progress.clear()
        self.woken.set()


class Hub:
    """All readers of this process. Everything except `wake` and `watches` belongs to the event loop."""

    def __init__(self) -> None:
        self.readers: dict[str, set[Reader]] = {}
        self._bus: Bus | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._polling: asyncio.Task[None] | None = None
        self._joined = asyncio.Event()
        #: When each conversation was marked as watched.
        self._marked: dict[str, float] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="streams")

    def start(self) -> None:
        """Join the bus, if there is one; once per process."""
        url = conf.get("BUS_URL")
        if url and self._bus is None:
            self._bus = Bus(url, self._wake_here)
            self._bus.start()

    @property
    def count(self) -> int:
        return sum(map(len, self.readers.values()))

    def join(self, conversation_id: str) -> Reader:
        """Add a reader, which first reads the database."""
        self._loop = asyncio.get_running_loop()
        reader = Reader(conversation_id)
        self.readers.setdefault(conversation_id, set()).add(reader)
        metrics.STREAM_READERS.set(self.count)
        # A turn that starts now must know that it is watched.
        self._joined.set()
        if self._polling is None or self._polling.done():
            self._polling = self._loop.create_task(self._poll())
        return reader

    def leave(self, reader: Reader) -> None:
        readers = self.readers.get(reader.conversation_id, set())
        readers.discard(reader)
        if not readers:
            self.readers.pop(reader.conversation_id, None)
        metrics.STREAM_READERS.set(self.count)

    def watches(self, conversation_id: str) -> bool:
        """True while somebody watches a conversation here."""
        return conversation_id in self.readers

    def wake(self, conversation_id: str, progress: str = "") -> None:
        """Wake the readers of a conversation in all processes. Never waits."""
        self._wake_here(conversation_id, progress)
        if self._bus:
            self._bus.wake(conversation_id, progress)

    async def read(self, work: Callable[[], T]) -> T:
        """Query the database in one of a few threads, which releases its connection afterwards."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, _read_and_release, work)

    def _wake_here(self, conversation_id: str, progress: str) -> None:
        def wake() -> None:
            for reader in self.readers.get(conversation_id, ()):
                reader.wake(progress)

        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(wake)

    async def _poll(self) -> None:
        while self.readers:
            self._joined.clear()
            names = list(self.readers)
            for first in range(0, len(names), _AT_ONCE):
                try:
                    await self._poll_conversations(names[first : first + _AT_ONCE])
                except (DatabaseError, InterfaceError) as error:
                    log.warning("streams cannot look at the database", error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._joined.wait(), min(self._pause(), _MARK_EVERY))

    def _pause(self) -> float:
        """Seconds between two polls. With a bus, they only find what it lost."""
        pause: float = conf.get("STREAM_POLL_MS") / 1000
        return max(pause, _POLL_BESIDE_BUS) if self._bus else pause

    async def _poll_conversations(self, names: list[str]) -> None:
        """Wake the readers of the conversations in which something is new, and mark these as watched."""
        versions = await self.read(lambda: read_events.read_versions(names))
        for reader in (reader for name in names for reader in self.readers.get(name, ())):
            if reader.version != (version := versions.get(reader.conversation_id, ())):
                reader.version = version
                reader.wake()
        now = time.monotonic()
        if due := [name for name in names if self._marked.get(name, 0.0) < now - _MARK_EVERY]:
            await self.read(lambda: read_events.mark_watched(due))
            marked = {**self._marked, **dict.fromkeys(due, now)}
            self._marked = {name: at for name, at in marked.items() if name in self.readers}


def _read_and_release(work: Callable[[], T]) -> T:
    try:
        return work()
    finally:
        connections.close_all()


hub = Hub()


def send_progress(is_marked: bool, turn: Turn, line: VerboseLine) -> None:
    """Send one text. A marked turn was watched when it began, maybe in another process."""
    conversation_id = turn.request.conversation_id
    if (is_marked or hub.watches(conversation_id)) and not turn.previous_session:
        hub.wake(conversation_id, encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now()))
