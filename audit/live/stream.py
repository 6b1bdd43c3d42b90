"""One stream: what is stored, then what happens, each event once and in order."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from functools import partial

from audit.live.hub import Hub, Reader
from audit.live.messages import CLOSED, CONNECTED, VERBOSE, StreamCursor, encode_frame
from audit.live.read_events import read_after
from audit.record.prompts import strip_prompts
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dumps, loads

#: Seconds between two heartbeats: proxies end a silent connection after a minute.
HEARTBEAT = 15.0
_COMMENT = b": still here\n\n"


@dataclass(frozen=True)
class StreamRequest:
    """What a permitted reader asks for."""

    conversation_id: str
    #: The position after which the stream begins.
    cursor: StreamCursor
    #: Stages to send; all when empty.
    stages: Collection[str] = ()
    verbose: bool = True
    #: Prompts are shown.
    prompts: bool = True
    #: The reader named no event to continue from.
    is_new: bool = False
    #: The signed-in user or the API key, whose streams are counted.
    caller: str = ""
    #: The caller is an API key.
    is_key: bool = False
    #: Called periodically: returns why the stream must end, or blank.
    find_refusal: Callable[[], str] = lambda: ""

    def render(self, data: str) -> str:
        """An envelope for this reader."""
        return data if self.prompts else dumps(strip_prompts(loads(data)))

    def wants(self, name: str) -> bool:
        """True for a stage that is sent. The failure of a turn is always sent."""
        return not self.stages or name == TURN_FAILED or name in self.stages or base_name(name) in self.stages


async def iterate_frames(hub: Hub, reader: Reader, request: StreamRequest, lasts: float) -> AsyncIterator[bytes]:
    """All messages, until the reader leaves, is too slow, or `lasts` seconds are over."""
    key, cursor = request.conversation_id, request.cursor
    # A new reader learns its position for a later connection.
    greeting = dumps({"conversationId": key, "transport": "SSE"})
    yield encode_frame(CONNECTED, greeting, cursor if request.is_new else None)
    until, checked_at = time.monotonic() + lasts, time.monotonic()
    why = ""
    while not why and time.monotonic() < until:
        if reader.overrun:
            why = "STREAM_TOO_SLOW"
        elif reader.stale:
            reader.stale = False
            page = await hub.read(partial(read_after, key, cursor))
            reader.stale |= page.more
            for message in page.messages:
                cursor = cursor.advance(message.cursor)
                if request.wants(message.name):
                    yield encode_frame(message.name, request.render(message.data), cursor)
            why = page.ended
        elif reader.progress:
            progress = reader.progress.popleft()
            if request.verbose:
                yield encode_frame(VERBOSE, progress)
        else:
            try:
                await asyncio.wait_for(reader.woken.wait(), HEARTBEAT)
                reader.woken.clear()
            except TimeoutError:
                yield _COMMENT
        if time.monotonic() > checked_at + 2 * HEARTBEAT:
            checked_at, why = time.monotonic(), why or await hub.read(request.find_refusal)
    yield encode_frame(CLOSED, dumps({"conversationId": key, "reason": why or "TIME_OVER"}))
