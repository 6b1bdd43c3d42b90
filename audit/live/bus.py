"""The bus between processes, with the Redis protocol: watched conversations, and events of running turns (R75).

Nothing depends on it: readers find what it loses in the database.
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
from audit.live.messages import StreamMessage
from convengine.server.deployment import conf

log = structlog.get_logger(__name__)
_WATCHED_CHANNEL, _MESSAGE_CHANNEL = "convengine:live:watched", "convengine:live:told"
#: Seconds for which an announcement is valid, and between two attempts to reach the bus.
HOLDS, _AGAIN = 10.0, 2.0
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
        self._url = url.replace("redis+socket://", "unix://", 1)
        self._me = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._on_message = on_message
        self._on_refresh = on_refresh
        #: Conversations that are watched in other processes, and until when.
        self._interest: dict[str, float] = {}
        self._out: queue.Queue[tuple[str, str]] = queue.Queue(_WAITING)

    def start(self) -> None:
        """Start both threads. They end with the process."""
        for work in (self._send, self._listen):
            threading.Thread(target=work, name="live bus", daemon=True).start()

    def is_watched(self, conversation_id: str) -> bool:
        """True while another process has a reader of a conversation."""
        return self._interest.get(conversation_id, 0.0) > time.monotonic()

    def announce(self, conversations: list[str]) -> None:
        """Announce the conversations that are watched here."""
        self._put(_WATCHED_CHANNEL, " ".join([self._me, *conversations]))

    def tell(self, message: StreamMessage) -> None:
        """Send a message to all readers."""
        text = message.pack(self._me)
        if len(text) <= _LARGEST:
            self._put(_MESSAGE_CHANNEL, text)

    def _put(self, channel: str, text: str) -> None:
        try:
            self._out.put_nowait((channel, text))
        except queue.Full:
            log.warning("the live bus is too slow; viewers read from the database")

    def _client(self) -> Any:
        import redis

        return redis.Redis.from_url(self._url, socket_connect_timeout=5, socket_timeout=None, health_check_interval=30)

    def _send(self) -> None:
        client = self._client()
        while True:
            channel, text = self._out.get()
            self._retry(lambda channel=channel, text=text: client.publish(channel, text))  # type: ignore[misc]

    def _listen(self) -> None:
        while True:
            self._retry(self._receive_messages)

    def _receive_messages(self) -> None:
        with self._client().pubsub(ignore_subscribe_messages=True) as subscribed:
            subscribed.subscribe(_WATCHED_CHANNEL, _MESSAGE_CHANNEL)
            for message in subscribed.listen():
                try:
                    self._take(message["channel"].decode(), message["data"])
                except (ValueError, TypeError) as error:
                    log.warning("not understood on the live bus", error=str(error))

    def _take(self, channel: str, data: bytes) -> None:
        if channel == _WATCHED_CHANNEL:
            sender, *conversations = data.decode().split()
            if sender != self._me:
                now = time.monotonic()
                known = {name: until for name, until in self._interest.items() if until > now}
                self._interest = {**known, **dict.fromkeys(conversations, now + HOLDS)}
            return
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
            hub.announce = self._bus.announce
            # With a bus, polling is only needed for lost messages.
            hub.every = lambda: max(conf.get("STREAM_POLL_MS") / 1000, 2.0)
            self._bus.start()
        self._started = True

    @property
    def can_be_watched(self) -> bool:
        """False in a process whose running turns nobody can watch."""
        return self._bus is not None or hub.serves

    def is_watched(self, conversation_id: str) -> bool:
        """True while somebody watches a conversation."""
        return hub.watches(conversation_id) or (self._bus is not None and self._bus.is_watched(conversation_id))

    def tell(self, message: StreamMessage) -> None:
        """Send to all readers. Never waits."""
        hub.offer(message)
        if self._bus and self._bus.is_watched(message.conversation_id):
            self._bus.tell(message)

    def refresh(self, conversation_id: str) -> None:
        """Make all readers read the database."""
        hub.refresh(conversation_id)
        if self._bus and self._bus.is_watched(conversation_id):
            self._bus.tell(StreamMessage(conversation_id, LOOK, ""))


relay = Relay()
