"""The words of turns as PostgreSQL finds them: indexed by a job behind the turns, so that no turn pays for it.

What is not indexed yet is looked at turn by turn, so that a search never lags. Elsewhere there is no index.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.fields import BooleanField

from audit.finding.sources import MANY, Batch, Candidate, between
from audit.finding.words import Wanted, different, said
from audit.models import CeTurnText
from convengine.domain.job import Counts, Every, Job
from convengine.sessions.models import CeConversationHistory

#: Turns of one transaction.
BATCH = 500
#: A number may be stored after a higher one: so many below the highest that is indexed are looked at all the same.
OVERLAP = 500
#: How many finds of one look are put in order, and how many turns the first look is at.
_MOST, _SPAN = 2_000, 4_096
_INSERT = """INSERT INTO ce_turn_text (history_id, words)
SELECT id, array_to_tsvector(string_to_array(text, ' ')) FROM unnest(%s::bigint[], %s::text[]) AS turn(id, text)
ON CONFLICT DO NOTHING"""


def available() -> bool:
    """True where the words of turns are indexed."""
    return bool(connection.vendor == "postgresql")


def index_new() -> Iterator[Counts]:
    """Index what turns have said since the last time."""
    last = _indexed() - OVERLAP if available() else None
    while last is not None:
        done, last = _index_behind(last)
        if done:
            yield {"turns": done}


def _index_behind(last: int) -> tuple[int, int | None]:
    """Index the next turns; how many, and behind which to go on, null at the end."""
    there = Exists(CeTurnText.objects.filter(pk=OuterRef("pk")))
    with transaction.atomic():
        # Held until their words are stored: whoever takes a text away comes after that, and so does the trigger.
        turns = list(
            CeConversationHistory.objects.filter(~there, history_id__gt=last)
            .order_by("history_id")
            .select_for_update(no_key=True, of=("self",))
            .values_list("history_id", "user_input", "assistant_output")[:BATCH]
        )
        if turns:
            texts = [" ".join(different(said(user, answer))) for _, user, answer in turns]
            with connection.cursor() as cursor:
                cursor.execute(_INSERT, [[number for number, *_ in turns], texts])
    return len(turns), turns[-1][0] if len(turns) == BATCH else None


def _indexed() -> int:
    """The highest number that is indexed."""
    return CeTurnText.objects.aggregate(last=Max("history_id"))["last"] or 0


@dataclass(frozen=True)
class OfWords:
    """Turns that may say what is wanted: those whose words are indexed so, and those that are not indexed yet."""

    wanted: Wanted
    turns: QuerySet[Any] = field(default_factory=CeConversationHistory.objects.all, repr=False)
    indexed: QuerySet[Any] = field(default_factory=CeTurnText.objects.all, repr=False)
    code = "w"
    column = "history_id"

    def few(self) -> int:
        """As the index says."""
        return len(self._finds().values_list("pk")[:MANY])

    def within(self, since: datetime | None, until: datetime | None) -> Self:
        """Both by their numbers."""
        if not since and not until:
            return self
        return replace(self, turns=between(self.turns, since, until), indexed=between(self.indexed, since, until))

    def batch(self, place: int | None, newer: bool, size: int) -> Batch:
        """What is not indexed yet comes first, turn by turn; going back to newer turns, last."""
        mark = _indexed() - OVERLAP
        if newer:
            found = self._upwards(place or 0, mark)
            return Batch(found, ended=False) if found else self._fresh(max(place or 0, mark), None, size, newer=True)
        fresh = self._fresh(mark, place, size, newer=False)
        if fresh.candidates:
            return Batch(fresh.candidates, ended=False)
        found = self._downwards(mark + 1 if place is None else min(place, mark + 1))
        return Batch(found, ended=not found)

    def _fresh(self, above: int, below: int | None, size: int, *, newer: bool) -> Batch:
        rows = self.turns.filter(history_id__gt=above)
        if below is not None:
            rows = rows.filter(history_id__lt=below)
        numbers = rows.order_by("history_id" if newer else "-history_id").values_list("history_id", flat=True)[:size]
        found = [Candidate(number, number) for number in numbers]
        return Batch(found, len(found) < size)

    def _downwards(self, below: int) -> list[Candidate]:
        """The finds of the nearest range below a number that has any, newest first."""
        span = _SPAN
        while below > 0:
            found = self._range(below - span, below)
            if found is None:
                span //= 4
            elif found:
                return [Candidate(number, number) for number in sorted(found, reverse=True)]
            else:
                below, span = below - span, span * 4
        return []

    def _upwards(self, above: int, mark: int) -> list[Candidate]:
        """The finds of the nearest range above a number that has any, oldest first."""
        span, above = _SPAN, above + 1
        while above <= mark:
            found = self._range(above, min(above + span, mark + 1))
            if found is None:
                span //= 4
            elif found:
                return [Candidate(number, number) for number in sorted(found)]
            else:
                above, span = above + span, span * 4
        return []

    def _range(self, first: int, behind: int) -> list[int] | None:
        """The finds from a number up to another, in no order; null where they are too many to be put in order."""
        rows = self._finds().filter(history_id__gte=first, history_id__lt=behind)
        found = list(rows.values_list("history_id", flat=True)[: _MOST + 1])
        return None if len(found) > _MOST else found

    def _finds(self) -> QuerySet[Any]:
        parts = [f"'{word}'" for word in self.wanted.every_word]
        parts += [f"'{word}':*" for word in self.wanted.beginnings]
        matching = RawSQL("words @@ %s::tsquery", [" & ".join(parts)], output_field=BooleanField())
        return self.indexed.filter(matching)


JOB = Job(
    "turn_words",
    "Index what turns say",
    "Indexes the words of turns for the page that finds them (PostgreSQL). Turns are found before that too, "
    "turn by turn.",
    Every(30),
    index_new,
)
