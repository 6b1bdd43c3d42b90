"""The words of turns in PostgreSQL: indexed by a job after the turns, so that turns pay nothing.

Turns that are not indexed yet are searched one by one. Other databases have no index.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.fields import BooleanField

from audit.models import CeTurnText
from audit.search.query import TextQuery, distinct_words, turn_text
from audit.search.sources import COUNT_LIMIT, Batch, TurnCandidate, narrow_by_number
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.engine.turn.job import Counts, Every, Job, Retention
from convengine.server.sessions.models import CeConversationHistory

#: Turns per transaction.
BATCH = 500
#: A number may be stored after a higher one: this many below the highest indexed one are searched as well.
OVERLAP = 500
#: Maximum hits of one look to sort, and turns of the first look.
_MOST, _SPAN = 2_000, 256
_INSERT = """INSERT INTO ce_turn_text (history_id, words)
SELECT id, array_to_tsvector(string_to_array(text, ' ')) FROM unnest(%s::bigint[], %s::text[]) AS turn(id, text)
ON CONFLICT DO NOTHING"""


def is_available() -> bool:
    """True if the words of turns are indexed."""
    return bool(connection.vendor == "postgresql")


def index_new_turns() -> Iterator[Counts]:
    """Index new turns in batches; nothing on a database without an index."""
    last = _find_last_indexed() - OVERLAP if is_available() else None
    while last is not None:
        done, last = _index_batch(last)
        if done:
            yield {"turns": done}


def _index_batch(last: int) -> tuple[int, int | None]:
    """Index the next turns; returns how many, and where to continue, or None at the end."""
    is_indexed = Exists(CeTurnText.objects.filter(pk=OuterRef("pk")))
    with transaction.atomic():
        # Locked until their words are stored, so that an erasure, and its trigger, come afterwards.
        turns = list(
            CeConversationHistory.objects.filter(~is_indexed, history_id__gt=last)
            .order_by("history_id")
            .select_for_update(no_key=True, of=("self",))
            .values_list("history_id", "user_input", "assistant_output")[:BATCH]
        )
        if turns:
            texts = [" ".join(distinct_words(turn_text(user, answer))) for _, user, answer in turns]
            with connection.cursor() as cursor:
                cursor.execute(_INSERT, [[number for number, *_ in turns], texts])
    return len(turns), turns[-1][0] if len(turns) == BATCH else None


def _find_last_indexed() -> int:
    """The highest indexed number; 0 if no turn is indexed."""
    return CeTurnText.objects.aggregate(last=Max("history_id"))["last"] or 0


@dataclass(frozen=True)
class TextSource:
    """Turns that may contain the words: indexed ones, and those that are not indexed yet."""

    text_query: TextQuery
    turns: QuerySet[Any] = field(default_factory=CeConversationHistory.objects.all, repr=False)
    indexed: QuerySet[Any] = field(default_factory=CeTurnText.objects.all, repr=False)
    code = "w"
    column = "history_id"

    def count_candidates(self) -> int:
        """Count in the index alone; turns that are not indexed yet do not count."""
        return len(self._matching_rows().values_list("pk")[:COUNT_LIMIT])

    def restrict_time(self, since: datetime | None, until: datetime | None) -> Self:
        """Limit both, the turns and the index, by the numbers of turns."""
        return replace(
            self, turns=narrow_by_number(self.turns, since, until), indexed=narrow_by_number(self.indexed, since, until)
        )

    def read_batch(self, position: int | None, newer: bool, size: int) -> Batch:
        """Turns that are not indexed yet come first, one by one; towards newer turns, last."""
        mark = _find_last_indexed() - OVERLAP
        if newer:
            indexed = self._find_nearest(position or 0, mark, newer=True)
            return indexed or self._read_unindexed_batch(max(position or 0, mark), None, size, newer=True)
        if position is None or position > mark + 1:
            fresh = self._read_unindexed_batch(mark, position, size, newer=False)
            if fresh.candidates:
                return Batch(fresh.candidates, ended=False)
            position = mark + 1
        return self._find_nearest(position, mark, newer=False) or Batch([], ended=True)

    def _read_unindexed_batch(self, above: int, below: int | None, size: int, *, newer: bool) -> Batch:
        """The turns between two numbers, both excluded, whatever their words are; without `below`, to the newest."""
        rows = self.turns.filter(history_id__gt=above)
        if below is not None:
            rows = rows.filter(history_id__lt=below)
        numbers = rows.order_by("history_id" if newer else "-history_id").values_list("history_id", flat=True)[:size]
        candidates = [TurnCandidate(number, number) for number in numbers]
        return Batch(candidates, len(candidates) < size)

    def _find_nearest(self, position: int, mark: int, *, newer: bool) -> Batch | None:
        """The hits of the nearest range behind a position that has any, the nearest first; None without any."""
        span = _SPAN
        while position < mark if newer else position > 0:
            first, last = (position + 1, min(position + span, mark)) if newer else (position - span, position - 1)
            rows = self._matching_rows().filter(history_id__gte=first, history_id__lte=last)
            numbers = list(rows.values_list("history_id", flat=True)[: _MOST + 1])
            if len(numbers) > _MOST:
                # Too many to sort.
                span //= 4
            elif numbers:
                candidates = [TurnCandidate(number, number) for number in sorted(numbers, reverse=not newer)]
                return Batch(candidates, ended=False)
            else:
                position, span = last if newer else first, span * 4
        return None

    def _matching_rows(self) -> QuerySet[Any]:
        """The indexed turns with all words and beginnings of the query, in any order."""
        parts = [f"'{word}'" for word in self.text_query.every_word]
        parts += [f"'{word}':*" for word in self.text_query.beginnings]
        matching = RawSQL("words @@ %s::tsquery", [" & ".join(parts)], output_field=BooleanField())
        return self.indexed.filter(matching)


JOB = Job(
    "turn_words",
    "Index messages of turns",
    "Indexes the words of new turns (PostgreSQL only). Until then, the search reads these turns one by one.",
    Every(30),
    index_new_turns,
    # A trigger removes words with their turn.
    removes=[Retention(["audit.CeTurnText"], RETENTION_DAYS)],
)
