"""The bus between processes, with the Redis protocol: it wakes the readers of other processes.

A progress text, which is not stored, travels with the wake-up. What the bus loses, the poll of `hub` finds.
"""

import queue
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import structlog

from convengine.engine.turn.codec import dumps, loads
from convengine.server.deployment.redis_client import make_redis_client

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
