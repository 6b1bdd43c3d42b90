"""Send the events of a watched turn while it runs, as the audit stores them and as readers see them.

The bus carries them between processes, with the Redis protocol (R75). Nothing depends on it: readers find what it loses
in the database.
"""

import os
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog

from audit.live.hub import hub
from audit.live.messages import VERBOSE, StreamMessage, encode_event, encode_progress
from audit.models import CeAudit
from audit.record.expand import expand_events
from audit.record.rows import AuditRow, build_audit_rows, build_unstored_event, limiter, mask_payloads
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.redaction import Redaction
from convengine.engine.stages import AFTER_THE_ANSWER, base_name
from convengine.engine.turn.codec import loads
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.server.deployment import conf

log = structlog.get_logger(__name__)


def start() -> None:
    """Prepare this process to send events of its turns."""
    relay.start()


def join(turn: Turn) -> None:
    """Let a turn be watched. A turn that nobody watches only checks at each step whether somebody does."""
    if relay.can_be_watched:
        _TurnPublisher(turn).refresh()


@dataclass
class _TurnPublisher:
    """Sends one turn's events to its viewers."""

    turn: Turn
    #: Events examined; and the last one sent.
    _seen: int = 0
    _last_seq: int = 0
    _rows: deque[CeAudit] = field(default_factory=deque)

    def __post_init__(self) -> None:
        # One row in, one event out; the state in between is kept.
        self._events = expand_events(iter(self._rows.popleft, None))

    def refresh(self) -> None:
        """Begin to send when somebody watches; else check again at the next step."""
        trail, turn = self.turn.trail, self.turn
        if relay.is_watched(turn.request.conversation_id):
            trail.listeners = (*trail.listeners, self._publish_events)
            turn.verbose_listeners = (*turn.verbose_listeners, self._publish_progress)
            turn.ended = self._on_end
            if trail.events:
                self._publish_events(trail.events[-1])
        elif STEP_ENTER not in trail.watchers:
            trail.watchers = {**trail.watchers, STEP_ENTER: self._on_step}

    def _on_step(self, event: AuditEvent) -> None:
        if relay.is_watched(self.turn.request.conversation_id):
            trail = self.turn.trail
            trail.watchers = {stage: who for stage, who in trail.watchers.items() if stage != STEP_ENTER}
            self.refresh()

    def _publish_events(self, event: AuditEvent) -> None:
        """Send everything up to an event. A fault here never affects the turn; its viewers read the database."""
        if self.turn.previous_session:
            return
        try:
            rows = build_audit_rows(self.turn, self._seen, limiter.admits if limiter.on else None, every=True)
            self._seen = event.seq
            for row, payload in zip(rows, loads(mask_payloads(rows, Redaction.of(self.turn.snapshot))), strict=True):
                self._publish(row, payload)
        except Exception as fault:
            log.warning("event not told to viewers", error=str(fault), exc_info=fault)

    def _publish(self, row: AuditRow, payload: dict[str, object]) -> None:
        turn = self.turn
        self._rows.append(build_unstored_event(turn, UUID(turn.request.conversation_id), row, payload))
        data = encode_event(next(self._events))
        if base_name(row.stage) not in AFTER_THE_ANSWER:
            relay.tell(
                StreamMessage(turn.request.conversation_id, row.stage, data, turn.turn_no, row.seq, self._last_seq)
            )
            self._last_seq = row.seq

    def _publish_progress(self, line: VerboseLine) -> None:
        turn = self.turn
        if not turn.previous_session:
            data = encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now())
            relay.tell(StreamMessage(turn.request.conversation_id, VERBOSE, data))

    def _on_end(self) -> None:
        began, _ = self.turn.start
        for conversation_id in {began.conversation_id, self.turn.request.conversation_id}:
            relay.refresh(conversation_id)


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
