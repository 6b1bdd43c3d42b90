"""Find turns: walk back through the source with the fewest candidates, with limited work per page.

A page looks at a limited number of turns, so that the same question has the same answer on every machine. A walk that
ends early says how far back it came, and continues from there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Self
from uuid import UUID

from audit.search.filters import Filter, build_filters
from audit.search.query import CONVERSATIONS, SearchQuery, turn_text
from audit.search.sources import COUNT_LIMIT, OrderedSource, TurnCandidate, TurnSource, turns_source
from convengine.server.sessions.models import CeConversationHistory

_CURSOR = re.compile(r"([on])([a-z])(\d{1,18})")


class Cursor(NamedTuple):
    """A position in a source, and the direction."""

    newer: bool
    code: str
    position: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Parse a cursor. Returns None for a text that no page gave out."""
        match = _CURSOR.fullmatch(text)
        return cls(match[1] == "n", match[2], int(match[3])) if match else None

    def __str__(self) -> str:
        return f"{'n' if self.newer else 'o'}{self.code}{self.position}"


class TurnMatch(NamedTuple):
    position: int
    history_id: int
    conversation_id: UUID


#: How many turns a page looks at, by what it reads of each: its record, also its texts or the costs of its calls, also
#: the document with its events. Each of them takes about a tenth of a second.
RECORDS, TEXTS, EVENTS = 5_000, 2_000, 500
#: Turns of the largest batch, as a part of them.
_BATCHES = 20


@dataclass(frozen=True)
class TurnPage:
    """A page of turns, newest first."""

    matches: Sequence[TurnMatch]
    #: Where the neighbours begin, or None.
    older: Cursor | None
    newer: Cursor | None
    #: The start time of the last examined turn, if the walk paused before the page was full.
    paused: datetime | None = None
    looked: int = 0
    #: True if the walk went to newer turns.
    is_newer: bool = False

    @property
    def further(self) -> Cursor | None:
        """Where a paused walk continues."""
        return self.newer if self.is_newer else self.older


def find_turns(search: SearchQuery, cursor: Cursor | None, size: int) -> TurnPage:
    """A page of at most `size` turns. A cursor whose source the search does not have is ignored."""
    page = _Walk(search, size, cursor).page()
    if cursor and cursor.newer and len(page.matches) < size and not page.paused:
        # The newest page is always full.
        page = _Walk(search, size, None).page()
    return page


#: Candidates of the first batch, if the page is not larger than that.
_FIRST = 201
#: Newer turns of the conversations of a batch, among which newer matches are searched.
_LATER = 512
#: Totals up to this number are exact.
COUNTED = 10_000


@dataclass(frozen=True)
class Total:
    """The number of results: exact, or a lower bound."""

    count: int
    #: Counted to the end.
    exact: bool
    #: There are more than COUNTED.
    beyond: bool = False

    def describe(self) -> str:
        return f"{'' if self.exact else 'more than ' if self.beyond else 'at least '}{self.count:,}"


def count_matches(search: SearchQuery) -> Total:
    """The total, exact up to COUNTED; without an index, of as many turns as a page looks at, which the total says."""
    filters = build_filters(search)
    source = filters[0].source if filters else turns_source("h")
    is_plain = search.kind != CONVERSATIONS and not search.text and len(filters) <= 1
    if is_plain and isinstance(source, OrderedSource):
        count = source.count_turns(COUNTED + 1)
        return Total(min(count, COUNTED), count <= COUNTED, count > COUNTED)
    page = find_turns(search, None, COUNTED)
    return Total(len(page.matches), page.older is None, page.older is not None and page.paused is None)


def count_with_page(search: SearchQuery, page: TurnPage) -> Total:
    """The total beside the first page; where that page paused, only what it found."""
    if page.older is None or page.paused:
        return Total(len(page.matches), exact=page.older is None)
    return count_matches(search)


class _Walk:
    def __init__(self, search: SearchQuery, size: int, cursor: Cursor | None) -> None:
        """A walk to a page of `size` turns. It begins at the newest turn without a cursor of this search."""
        self.search, self.size = search, size
        self.filters = build_filters(search)
        self.cursor = cursor if cursor and any(source.code == cursor.code for source in self._sources()) else None
        self.source = self._choose_source().restrict_time(search.since, search.until)
        self.newer = self.cursor.newer if self.cursor else False
        self.looked = 0
        self.seen: set[UUID] = set()

    def page(self) -> TurnPage:
        """Walk until the page is full, nothing is left, or the limit is reached."""
        matches: list[TurnMatch] = []
        last: TurnCandidate | None = None
        for batch in self._batches():
            last = batch[-1]
            matches += self._select_matches(batch)
            if len(matches) > self.size:
                return self._page(matches[: self.size], matches[self.size - 1].position, None)
        if self.exhausted or last is None:
            return self._page(matches, None, None)
        turns = CeConversationHistory.objects.filter(**{self.source.column: last.key})
        return self._page(matches, last.position, turns.values_list("created_at", flat=True).first())

    def _page(self, matches: list[TurnMatch], on: int | None, paused: datetime | None) -> TurnPage:
        """The page, with the cursor to continue from `on`, None at the end. `paused` is that of the page."""
        onward = Cursor(self.newer, self.source.code, on) if on is not None else None
        begin = matches[0].position if matches else (self.cursor.position if self.cursor else None)
        back = Cursor(not self.newer, self.source.code, begin) if self.cursor and begin is not None else None
        if self.newer:
            return TurnPage(matches[::-1], back, onward, paused, self.looked, is_newer=True)
        return TurnPage(matches, onward, back, paused, self.looked)

    def _batches(self) -> Iterator[list[TurnCandidate]]:
        """Candidates in growing batches, up to the limit."""
        self.exhausted = False
        position = self.cursor.position if self.cursor else None
        limit = self._find_limit()
        most = max(limit // _BATCHES, 1)
        size = min(self.size + 1, max(most, _FIRST))
        while self.looked < limit:
            batch = self.source.read_batch(position, self.newer, min(size, limit - self.looked))
            self.looked += len(batch.candidates)
            self.exhausted = batch.ended
            if batch.candidates:
                yield batch.candidates
                position = batch.candidates[-1].position
            if batch.ended:
                return
            size = min(size * 4, most)

    def _find_limit(self) -> int:
        if self.search.model or (self.search.stage and self.source.code != "s"):
            return EVENTS
        return TEXTS if self.search.text or self.search.cost is not None else RECORDS

    def _select_matches(self, batch: Sequence[TurnCandidate]) -> list[TurnMatch]:
        column = self.source.column
        fitting = {row[0]: row for row in self._records(batch, column)}
        matches = [
            TurnMatch(candidate.position, *fitting[candidate.key][1:3])
            for candidate in batch
            if candidate.key in fitting
        ]
        return self._newest_of_each(matches) if self.search.kind == CONVERSATIONS else matches

    def _records(self, batch: Sequence[TurnCandidate], column: str) -> Iterator[tuple[Any, ...]]:
        """The candidates that fulfil all filters: (key in `column`, history_id, conversation_id, …)."""
        rows = CeConversationHistory.objects.filter(**{f"{column}__in": [candidate.key for candidate in batch]})
        # Whatever a source returns fulfils the filter of that source.
        others = [each for each in self.filters if each.source is None or each.source.code != self.source.code]
        return self._apply_filters(rows, others, column)

    def _apply_filters(
        self, rows: Any, filters: Sequence[Filter], column: str = "history_id"
    ) -> Iterator[tuple[Any, ...]]:
        """The turns among `rows` that match filters and words: (key in `column`, history_id, conversation_id, …)."""
        rows = rows.filter(*(each.where for each in filters))
        columns = (column, "history_id", "conversation_id")
        wanted = self.search.text
        if wanted is None:
            return iter(rows.values_list(*columns))
        rows_with_texts = rows.values_list(*columns, "user_input", "assistant_output")
        return (row for row in rows_with_texts if wanted.matches_text(turn_text(row[3], row[4])))

    def _newest_of_each(self, matches: Sequence[TurnMatch]) -> list[TurnMatch]:
        """Each conversation once, at its newest matching turn, as far as the walk knows newer ones."""
        newest = []
        newer = self._turns_with_newer_match(matches) if self.cursor else set()
        for match in matches:
            if match.conversation_id not in self.seen and match.history_id not in newer:
                self.seen.add(match.conversation_id)
                newest.append(match)
        return newest

    def _turns_with_newer_match(self, matches: Sequence[TurnMatch]) -> set[int]:
        """Those of the turns whose conversation has a newer match, searched among a limited number of turns."""
        if not matches:
            return set()
        keys = {match.conversation_id for match in matches}
        later = CeConversationHistory.objects.filter(
            conversation_id__in=keys, history_id__gt=min(match.history_id for match in matches)
        ).order_by("history_id")
        numbers = list(later.values_list("history_id", flat=True)[:_LATER])
        last: dict[UUID, int] = {}
        rows = CeConversationHistory.objects.filter(pk__in=numbers)
        for _, number, conversation, *_ in self._apply_filters(rows, self.filters):
            last[conversation] = max(number, last.get(conversation, 0))
        return {match.history_id for match in matches if last.get(match.conversation_id, 0) > match.history_id}

    def _choose_source(self) -> TurnSource:
        """The source of the cursor; else the one with the fewest candidates; among large ones the first."""
        sources = self._sources()
        if self.cursor:
            return next(source for source in sources if source.code == self.cursor.code)
        if len(sources) == 1:
            return sources[0]
        counted = [(source.count_candidates(), position) for position, source in enumerate(sources)]
        fewest, position = min(counted)
        return sources[position if fewest < COUNT_LIMIT else 0]

    def _sources(self) -> list[TurnSource]:
        return [condition.source for condition in self.filters if condition.source] or [turns_source("h")]
