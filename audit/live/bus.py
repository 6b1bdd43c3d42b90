"""The bus between processes, of the Redis protocol: who is watched where, and what running turns tell (R75).

Nothing depends on it: what it loses, or while it is away, readers find in the database when it is stored.
"""

import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import structlog

from audit.live.told import News

log = structlog.get_logger(__name__)
_WATCHED, _TOLD = "convengine:live:watched", "convengine:live:told"
#: Seconds for which an announcement holds, and between two tries to reach the bus.
HOLDS, _AGAIN = 10.0, 2.0
#: What waits to be sent; more is left to the database.
_WAITING = 2000
#: Larger news go by the database.
_LARGEST = 512 * 1024
#: The word of a message that says: look at the database.
LOOK = "LOOK"


class Bus:
    """This process on the bus: a thread that sends, and one that hears. Nothing here makes a turn wait."""

    def __init__(self, url: str, hear: Callable[[News], None], look: Callable[[str], None]) -> None:
        self._url = url.replace("redis+socket://", "unix://", 1)
        self._me = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._hear = hear
        self._look = look
        #: Conversations that are watched in other processes, and until when that holds.
        self._interest: dict[str, float] = {}
        self._out: queue.Queue[tuple[str, str]] = queue.Queue(_WAITING)

    def start(self) -> None:
        """Start both threads. They end with the process."""
        for work in (self._send, self._listen):
            threading.Thread(target=work, name="live bus", daemon=True).start()

    def watched(self, conversation_id: str) -> bool:
        """True while another process has a reader of a conversation."""
        return self._interest.get(conversation_id, 0.0) > time.monotonic()

    def announce(self, conversations: list[str]) -> None:
        """Say that conversations are watched here."""
        self._put(_WATCHED, " ".join([self._me, *conversations]))

    def tell(self, news: News) -> None:
        """Send something to whoever watches."""
        text = news.packed(self._me)
        if len(text) <= _LARGEST:
            self._put(_TOLD, text)

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
            self._tried(lambda channel=channel, text=text: client.publish(channel, text))  # type: ignore[misc]

    def _listen(self) -> None:
        while True:
            self._tried(self._heard_until_it_ends)

    def _heard_until_it_ends(self) -> None:
        with self._client().pubsub(ignore_subscribe_messages=True) as subscribed:
            subscribed.subscribe(_WATCHED, _TOLD)
            for message in subscribed.listen():
                try:
                    self._take(message["channel"].decode(), message["data"])
                except (ValueError, TypeError) as error:
                    log.warning("not understood on the live bus", error=str(error))

    def _take(self, channel: str, data: bytes) -> None:
        if channel == _WATCHED:
            sender, *conversations = data.decode().split()
            if sender != self._me:
                now = time.monotonic()
                known = {name: until for name, until in self._interest.items() if until > now}
                self._interest = {**known, **dict.fromkeys(conversations, now + HOLDS)}
            return
        sender, news = News.unpacked(data)
        if sender == self._me:
            return
        if news.name == LOOK:
            self._look(news.conversation_id)
        else:
            self._hear(news)

    def _tried(self, work: Callable[[], Any]) -> None:
        import redis

        try:
            work()
        except (redis.RedisError, OSError) as error:
            log.warning("the live bus is out of reach", error=str(error))
            time.sleep(_AGAIN)
