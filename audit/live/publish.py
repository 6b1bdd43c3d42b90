"""Let readers watch running turns (R75, R122).

A watched turn stores its events after each step (`audit.record.running`); readers take them from the database. The bus,
with the Redis protocol, only wakes the readers of other processes, and carries progress texts, which are not stored.
"""

import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import structlog

from audit.live.hub import hub
from audit.live.messages import VERBOSE, StreamMessage, encode_progress
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.server.deployment import conf
from convengine.server.deployment.redis_client import make_redis_client

log = structlog.get_logger(__name__)


def start() -> None:
    """Prepare this process to wake readers."""
    relay.start()


def watches(conversation_id: str) -> bool:
    """Whether somebody watches a conversation in this process."""
    return hub.watches(conversation_id)


def join(turn: Turn, is_marked: bool) -> None:
    """Let a turn be watched. A marked one was watched when it began, maybe in another process."""

    def publish_progress(line: VerboseLine) -> None:
        if (is_marked or watches(turn.request.conversation_id)) and not turn.previous_session:
            data = encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now())
            relay.tell(StreamMessage(turn.request.conversation_id, VERBOSE, data))

    def on_end() -> None:
        began, _ = turn.start
        for conversation_id in {began.conversation_id, turn.request.conversation_id}:
            wake(conversation_id)

    if is_marked or relay.can_be_watched:
        turn.verbose_listeners = (*turn.verbose_listeners, publish_progress)
        turn.ended = on_end


def wake(conversation_id: str) -> None:
    """Make all readers of a conversation read the database."""
    relay.refresh(conversation_id)


_CHANNEL = "convengine:live"
#: Seconds between two attempts to reach the bus.
_AGAIN = 2.0
#: Maximum length of the send queue; the rest is left to the database.
_WAITING = 2000
#: Larger messages go through the database.
_LARGEST = 512 * 1024
#: The message that asks readers to look at the database.
LOOK = "LOOK"


class Bus:
    """This process on the bus: a thread that sends, and one that receives. A turn never waits for it."""

    def __init__(
        self, url: str, on_message: Callable[[StreamMessage], None], on_refresh: Callable[[str], None]
    ) -> None:
        self._url = url
        self._me = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._on_message = on_message
        self._on_refresh = on_refresh
        self._out: queue.Queue[str] = queue.Queue(_WAITING)

    def start(self) -> None:
        """Start both threads. They end with the process."""
        for work in (self._send, self._listen):
            threading.Thread(target=work, name="live bus", daemon=True).start()

    def tell(self, message: StreamMessage) -> None:
        """Send a message to all readers."""
        text = message.pack(self._me)
        if len(text) <= _LARGEST:
            try:
                self._out.put_nowait(text)
            except queue.Full:
                log.warning("the live bus is too slow; viewers read from the database")

    def _client(self) -> Any:
        return make_redis_client(self._url, socket_connect_timeout=5, socket_timeout=None, health_check_interval=30)

    def _send(self) -> None:
        client = self._client()
        while True:
            text = self._out.get()
            self._retry(lambda text=text: client.publish(_CHANNEL, text))  # type: ignore[misc]

    def _listen(self) -> None:
        while True:
            self._retry(self._receive_messages)

    def _receive_messages(self) -> None:
        with self._client().pubsub(ignore_subscribe_messages=True) as subscribed:
            subscribed.subscribe(_CHANNEL)
            for message in subscribed.listen():
                try:
                    self._take(message["data"])
                except (ValueError, TypeError) as error:
                    log.warning("not understood on the live bus", error=str(error))

    def _take(self, data: bytes) -> None:
        sender, message = StreamMessage.unpack(data)
        if sender == self._me:
            return
        if message.name == LOOK:
            self._on_refresh(message.conversation_id)
        else:
            self._on_message(message)

    def _retry(self, work: Callable[[], Any]) -> None:
        import redis

        try:
            work()
        except (redis.RedisError, OSError) as error:
            log.warning("the live bus is out of reach", error=str(error))
            time.sleep(_AGAIN)


class Relay:
    """Sends events to readers."""

    def __init__(self) -> None:
        self._bus: Bus | None = None
        self._started = False

    def start(self) -> None:
        """Join the bus, if there is one; once per process."""
        url = conf.get("BUS_URL")
        if url and not self._started:
            self._bus = Bus(url, hub.offer, hub.refresh)
            # With a bus, polling is only needed for lost messages.
            hub.every = lambda: max(conf.get("STREAM_POLL_MS") / 1000, 2.0)
            self._bus.start()
        self._started = True

    @property
    def can_be_watched(self) -> bool:
        """False in a process whose running turns nobody can watch."""
        return self._bus is not None or hub.serves

    def tell(self, message: StreamMessage) -> None:
        """Send to all readers. Never waits."""
        hub.offer(message)
        if self._bus:
            self._bus.tell(message)

    def refresh(self, conversation_id: str) -> None:
        """Make all readers read the database."""
        hub.refresh(conversation_id)
        if self._bus:
            self._bus.tell(StreamMessage(conversation_id, LOOK, ""))


relay = Relay()
