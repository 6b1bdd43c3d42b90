"""One stream: what is stored, then what happens, each event once and in order (api-and-audit 4, R75)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from functools import partial

from audit.live.hub import Hub, Reader
from audit.live.place import Place
from audit.live.reading import Found, beyond
from audit.live.told import CLOSED, CONNECTED, News, frame
from audit.reach import without_prompts
from audit.stage_names import base_name
from convengine.codec import dumps, loads
from convengine.domain.stages import Stage

#: Seconds between two signs of life: proxies end a connection that says nothing for a minute.
HEARTBEAT = 15.0
_COMMENT = b": still here\n\n"


@dataclass(frozen=True)
class Wanted:
    """What a reader asked for."""

    conversation_id: str
    #: Stages to send; all when empty.
    stages: Collection[str] = ()
    verbose: bool = True
    #: What models were asked is shown.
    prompts: bool = True

    def shown(self, data: str) -> str:
        """An envelope as this reader gets it."""
        return data if self.prompts else dumps(without_prompts(loads(data)))

    def wants(self, name: str) -> bool:
        """True for a stage that is sent. That a turn failed is sent always."""
        return not self.stages or name == Stage.TURN_FAILED or name in self.stages or base_name(name) in self.stages


@dataclass
class Stream:
    """A reader's way through a conversation."""

    hub: Hub
    reader: Reader
    wanted: Wanted
    place: Place
    #: Seconds that it may last.
    lasts: float
    #: Asked now and again: may it go on? Gives why not, blank when it may.
    refused: Callable[[], str]
    #: The reader named no event to go on from.
    anew: bool = False
    #: The newest turn for which everything in front of it was read.
    _met: int = 0

    async def frames(self) -> AsyncIterator[bytes]:
        """Everything to be sent, until the reader goes, is too slow, or the time is over."""
        greeting = dumps({"conversationId": self.wanted.conversation_id, "transport": "SSE"})
        # Who comes anew learns where that is, to come again from there; who comes again knows.
        yield frame(CONNECTED, greeting, self.place if self.anew else None)
        until, asked = time.monotonic() + self.lasts, time.monotonic()
        why = ""
        while not why and time.monotonic() < until:
            if self.reader.overrun:
                why = "STREAM_TOO_SLOW"
            elif self.reader.stale:
                found = await self._read()
                for sent in self._stored(found):
                    yield sent
                why = _over(found)
            elif news := self.reader.take():
                async for sent in self._heard(news):
                    yield sent
            elif await self._nothing_for(HEARTBEAT):
                yield _COMMENT
            if time.monotonic() > asked + 2 * HEARTBEAT:
                asked, why = time.monotonic(), why or await self.hub.read(self.refused)
        yield frame(CLOSED, dumps({"conversationId": self.wanted.conversation_id, "reason": why or "TIME_OVER"}))

    async def _read(self) -> Found:
        self.reader.stale = False
        found = await self.hub.read(partial(beyond, self.wanted.conversation_id, self.place))
        self.reader.stale |= found.more
        return found

    def _stored(self, found: Found) -> list[bytes]:
        sent = []
        for one in found.told:
            # The turn that runs may have told it already.
            if one.place[:2] > self.place[:2] or one.place.beside > self.place.beside:
                self.place = Place(*max(one.place[:2], self.place[:2]), max(one.place.beside, self.place.beside))
                if self.wanted.wants(one.name):
                    sent.append(frame(one.name, self.wanted.shown(one.data), self.place))
        return sent

    async def _heard(self, news: News) -> AsyncIterator[bytes]:
        """Something of the turn that runs, if it is next; else it comes from the database when it is stored."""
        if not news.is_event:
            if self.wanted.verbose:
                yield frame(news.name, news.data)
            return
        if news.turn_no > self.place.turn_no and news.previous == 0 and self._met < news.turn_no:
            # No turn begins before the last one is stored: read that to its end.
            self.reader.stale = True
            while self.reader.stale:
                for sent in self._stored(await self._read()):
                    yield sent
            self._met = news.turn_no
        if self._is_next(news):
            self.place = self.place._replace(turn_no=news.turn_no, seq=news.seq)
            if self.wanted.wants(news.name):
                yield frame(news.name, self.wanted.shown(news.data), self.place)

    def _is_next(self, news: News) -> bool:
        turn_no, seq = self.place.turn_no, self.place.seq
        if news.turn_no == turn_no:
            return news.previous <= seq < news.seq
        return news.turn_no > turn_no and news.previous == 0 and self._met >= news.turn_no

    async def _nothing_for(self, seconds: float) -> bool:
        """Wait until there is something to do; true when there was nothing."""
        try:
            await asyncio.wait_for(self.reader.wake.wait(), seconds)
        except TimeoutError:
            return True
        self.reader.wake.clear()
        return False


def _over(found: Found) -> str:
    if found.gone:
        return "NOT_FOUND"
    return f"SESSION_{found.ended}" if found.ended else ""
