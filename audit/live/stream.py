"""One stream: what is stored, then what happens, each event once and in order."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

from audit.api.access_scope import strip_prompts
from audit.live.cursor import StreamCursor
from audit.live.hub import Hub, Reader
from audit.live.messages import CLOSED, CONNECTED, VERBOSE, encode_frame
from audit.live.read_events import StreamPage, read_after
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dumps, loads

#: Seconds between two heartbeats: proxies end a silent connection after a minute.
HEARTBEAT = 15.0
_COMMENT = b": still here\n\n"


@dataclass(frozen=True)
class StreamRequest:
    """The parameters of a reader."""

    conversation_id: str
    #: Stages to send; all when empty.
    stages: Collection[str] = ()
    verbose: bool = True
    #: Prompts are shown.
    prompts: bool = True

    def render(self, data: str) -> str:
        """An envelope for this reader."""
        return data if self.prompts else dumps(strip_prompts(loads(data)))

    def wants(self, name: str) -> bool:
        """True for a stage that is sent. The failure of a turn is always sent."""
        return not self.stages or name == TURN_FAILED or name in self.stages or base_name(name) in self.stages


@dataclass
class Stream:
    """The progress of a reader through a conversation."""

    hub: Hub
    reader: Reader
    request: StreamRequest
    cursor: StreamCursor
    #: Seconds that it may last.
    lasts: float
    #: Called periodically: returns why the stream must end, or blank.
    find_refusal: Callable[[], str]
    #: The reader named no event to continue from.
    is_new: bool = False

    async def frames(self) -> AsyncIterator[bytes]:
        """All messages, until the reader leaves, is too slow, or the time is over."""
        greeting = dumps({"conversationId": self.request.conversation_id, "transport": "SSE"})
        # A new reader learns its position for a later connection.
        yield encode_frame(CONNECTED, greeting, self.cursor if self.is_new else None)
        until, checked_at = time.monotonic() + self.lasts, time.monotonic()
        why = ""
        while not why and time.monotonic() < until:
            if self.reader.overrun:
                why = "STREAM_TOO_SLOW"
            elif self.reader.stale:
                page = await self._read()
                for sent in self._stored_frames(page):
                    yield sent
                why = _end_reason(page)
            elif self.reader.progress:
                progress = self.reader.progress.popleft()
                if self.request.verbose:
                    yield encode_frame(VERBOSE, progress)
            elif await self._is_idle_for(HEARTBEAT):
                yield _COMMENT
            if time.monotonic() > checked_at + 2 * HEARTBEAT:
                checked_at, why = time.monotonic(), why or await self.hub.read(self.find_refusal)
        yield encode_frame(
            CLOSED, dumps({"conversationId": self.request.conversation_id, "reason": why or "TIME_OVER"})
        )

    async def _read(self) -> StreamPage:
        self.reader.stale = False
        page = await self.hub.read(partial(read_after, self.request.conversation_id, self.cursor))
        self.reader.stale |= page.more
        return page

    def _stored_frames(self, page: StreamPage) -> Iterator[bytes]:
        for message in page.messages:
            self.cursor = self.cursor.advance(message.cursor)
            if self.request.wants(message.name):
                yield encode_frame(message.name, self.request.render(message.data), self.cursor)

    async def _is_idle_for(self, seconds: float) -> bool:
        """Wait until there is something to do; true on a timeout."""
        try:
            await asyncio.wait_for(self.reader.woken.wait(), seconds)
        except TimeoutError:
            return True
        self.reader.woken.clear()
        return False


def _end_reason(page: StreamPage) -> str:
    if page.gone:
        return "NOT_FOUND"
    return f"SESSION_{page.ended}" if page.ended else ""
