"""Finding turns: back through the source with the fewest candidates, a bounded piece of work for each page (law 8).

Whatever is asked, a page looks at so many turns and no more. A walk that ends before its page is full says how far back
it came, and goes on from there.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Self
from uuid import UUID

from audit.finding.filters import filters
from audit.finding.search import CONVERSATIONS, Search
from audit.finding.sources import MANY, Candidate, Source, of_turns
from audit.finding.words import said
from convengine.sessions.models import CeConversationHistory

_CURSOR = re.compile(r"([on])([a-z])(\d{1,18})")


class Cursor(NamedTuple):
    """A place in what a source gives, and the way from there."""

    newer: bool
    code: str
    place: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Null for a text that no page gave out."""
        match = _CURSOR.fullmatch(text)
        return cls(match[1] == "n", match[2], int(match[3])) if match else None

    def __str__(self) -> str:
        return f"{'n' if self.newer else 'o'}{self.code}{self.place}"


class Match(NamedTuple):
    """A turn that fits."""

    place: int
    history_id: int
    conversation_id: UUID


@dataclass(frozen=True)
class Budget:
    """How much one page may look at: turns, and seconds after which no other batch is begun."""

    turns: int = 20_000
    seconds: float = 0.1
    #: The largest batch, where only the records of turns are looked at, where their texts or calls are, their events.
    records: int = 1_024
    texts: int = 256
    events: int = 64


@dataclass(frozen=True)
class Found:
    """A page of turns, newest first."""

    matches: Sequence[Match]
    #: Where the neighbours begin; null where there are none.
    older: Cursor | None
    newer: Cursor | None
    #: When the last turn began that was looked at, where the walk paused before the page was full.
    paused: datetime | None = None
    looked: int = 0
    #: True where newer turns were walked to.
    is_newer: bool = False

    @property
    def further(self) -> Cursor | None:
        """Where a walk that paused goes on."""
        return self.newer if self.is_newer else self.older


def find(search: Search, cursor: Cursor | None, size: int, budget: Budget | None = None) -> Found:
    """A page. A cursor of another search is as good as none."""
    walk = _Walk(search, size, budget or Budget(), cursor)
    found = walk.page()
    if cursor and cursor.newer and len(found.matches) < size and not found.paused:
        # The newest page is a whole one.
        return _Walk(search, size, budget or Budget(), None).page()
    return found


class _Walk:
    """One page's way back, or forth."""

    def __init__(self, search: Search, size: int, budget: Budget, cursor: Cursor | None) -> None:
        self.search, self.size, self.budget = search, size, budget
        self.asked = filters(search)
        self.cursor = cursor if cursor and any(one.code == cursor.code for one in self._sources()) else None
        self.source = self._chosen().within(search.since, search.until)
        self.newer = self.cursor.newer if self.cursor else False
        self.looked = 0
        self.seen: set[UUID] = set()

    def page(self) -> Found:
        """Walk until the page is full, nothing is left, or enough was looked at."""
        found: list[Match] = []
        last: Candidate | None = None
        for batch in self._batches():
            last = batch[-1]
            found += self._fitting(batch)
            if len(found) > self.size:
                return self._page(found[: self.size], found[self.size - 1].place, None)
        if self.exhausted or last is None:
            return self._page(found, None, None)
        return self._page(found, last.place, self._began(last))

    def _page(self, found: list[Match], on: int | None, paused: datetime | None) -> Found:
        """The page, where the walk goes on from `on`, and began at the cursor."""
        there = Cursor(self.newer, self.source.code, on) if on is not None else None
        begin = found[0].place if found else (self.cursor.place if self.cursor else None)
        back = Cursor(not self.newer, self.source.code, begin) if self.cursor and begin is not None else None
        if self.newer:
            return Found(found[::-1], back, there, paused, self.looked, is_newer=True)
        return Found(found, there, back, paused, self.looked)

    def _batches(self) -> Iterator[list[Candidate]]:
        """Candidates, at first about a page of them, then ever more, as long as there is budget."""
        self.exhausted = False
        deadline = time.monotonic() + self.budget.seconds
        place = self.cursor.place if self.cursor else None
        size, most = self.size + 1, self._largest()
        while self.looked < self.budget.turns and time.monotonic() < deadline:
            batch = self.source.batch(place, self.newer, size)
            self.looked += len(batch.candidates)
            self.exhausted = batch.ended
            if batch.candidates:
                yield batch.candidates
                place = batch.candidates[-1].place
            if batch.ended:
                return
            size = min(size * 4, most)

    def _largest(self) -> int:
        if self.search.stage and self.source.code != "s":
            return self.budget.events
        return self.budget.texts if self.search.text or self.search.cost is not None else self.budget.records

    def _fitting(self, batch: Sequence[Candidate]) -> list[Match]:
        """Those of the candidates that fit, in their order."""
        column = self.source.column
        fitting = {row[0]: row for row in self._records(batch, column)}
        matches = [Match(one.place, *fitting[one.key][1:3]) for one in batch if one.key in fitting]
        return self._newest_of_each(matches) if self.search.kind == CONVERSATIONS else matches

    def _records(self, batch: Sequence[Candidate], column: str) -> Iterator[tuple[Any, ...]]:
        rows = CeConversationHistory.objects.filter(**{f"{column}__in": [one.key for one in batch]})
        return self._judged(rows, column)

    def _judged(self, rows: Any, column: str = "history_id") -> Iterator[tuple[Any, ...]]:
        """Of some turns those that fit: (key, history_id, conversation_id, …)."""
        rows = rows.filter(*(where for one in self.asked for where in one.where))
        columns = (column, "history_id", "conversation_id")
        wanted = self.search.text
        if wanted is None:
            return iter(rows.values_list(*columns))
        told = rows.values_list(*columns, "user_input", "assistant_output")
        return (row for row in told if wanted.fits(said(row[3], row[4])))

    def _newest_of_each(self, matches: Sequence[Match]) -> list[Match]:
        """Each conversation at its newest turn that fits."""
        kept = []
        newer = self._with_newer(matches) if self.cursor else set()
        for match in matches:
            if match.conversation_id not in self.seen and match.history_id not in newer:
                self.seen.add(match.conversation_id)
                kept.append(match)
        return kept

    def _with_newer(self, matches: Sequence[Match]) -> set[int]:
        """Those of the turns behind which their conversation has another that fits; looked for among so many turns."""
        if not matches:
            return set()
        keys = {match.conversation_id for match in matches}
        later = CeConversationHistory.objects.filter(
            conversation_id__in=keys, history_id__gt=min(match.history_id for match in matches)
        ).order_by("history_id")
        numbers = list(later.values_list("history_id", flat=True)[: self.budget.records])
        last: dict[UUID, int] = {}
        for _, number, conversation, *_ in self._judged(CeConversationHistory.objects.filter(pk__in=numbers)):
            last[conversation] = max(number, last.get(conversation, 0))
        return {match.history_id for match in matches if last.get(match.conversation_id, 0) > match.history_id}

    def _chosen(self) -> Source:
        """The source of the cursor; else the one with the fewest candidates, of many those that come first."""
        found = self._sources()
        if self.cursor:
            return next(one for one in found if one.code == self.cursor.code)
        if len(found) == 1:
            return found[0]
        counted = [(one.few(), place) for place, one in enumerate(found)]
        fewest, place = min(counted)
        return found[place if fewest < MANY else 0]

    def _sources(self) -> list[Source]:
        return [one.source for one in self.asked if one.source] or [of_turns("h")]

    def _began(self, candidate: Candidate) -> datetime | None:
        where = {self.source.column: candidate.key}
        return CeConversationHistory.objects.filter(**where).values_list("created_at", flat=True).first()
