"""Sources of turns for a search: each returns candidates newest first, after a position, from an index.

A position is the key of the source's own row; the database determines its order, so that two notations of one time
cannot differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self

from django.db.models import BooleanField, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from audit.models import CeAudit, CeMcpUserFeedback, CeTurnRow
from audit.models.trail import IN_INDEX
from convengine.engine.stages import stored_names
from convengine.server.sessions.models import CeConversationHistory

#: A source with more candidates counts as large.
COUNT_LIMIT = 500
#: A turn is stored at most this much later than it began; a longer one may be missed at the edge of a time range.
SLACK = timedelta(minutes=10)
#: With fewer turns, the position of a time in them does not matter.
_SPAN = 20_000


class Candidate(NamedTuple):
    """A turn that may match."""

    position: int
    #: Its `history_id` or its `turn_id`, depending on the source.
    key: Any


class Batch(NamedTuple):
    """Some candidates in order, and whether they are the last."""

    candidates: list[Candidate]
    ended: bool


class Source(Protocol):
    """Returns candidates."""

    @property
    def code(self) -> str:
        """Its name in cursors."""

    @property
    def column(self) -> str:
        """The column of the turn for its keys."""

    def count_candidates(self) -> int:
        """The number of candidates; MANY means that many or more."""

    def restrict_time(self, since: datetime | None, until: datetime | None) -> Self:
        """The source limited to turns that began then, as far as an index can."""

    def read_batch(self, position: int | None, newer: bool, size: int) -> Batch:
        """About `size` candidates older than a position, newest first; or newer than it, oldest first."""


def sql_condition(sql: str) -> RawSQL:
    """A condition in the spelling of a partial index, which databases do not recognise with parameters."""
    return RawSQL(sql, [], output_field=BooleanField())  # noqa: S611 - texts of this package only


@dataclass(frozen=True)
class OrderedSource:
    """Rows in the order of some columns; the last column is their key."""

    code: str
    column: str
    rows: QuerySet[Any] = field(repr=False)
    order: Sequence[str]
    #: The column of the turn's key.
    key: str
    #: Limits the rows to a time range.
    narrow: Callable[[QuerySet[Any], datetime | None, datetime | None], QuerySet[Any]] = field(repr=False)
    #: Keeps the last of several rows of one turn; not used for counting.
    once: Any = field(default=None, repr=False)

    def count_candidates(self) -> int:
        """Counted in the order of the index, so that the database uses it."""
        return len(self.rows.order_by(*(f"-{name}" for name in self.order)).values_list("pk")[:COUNT_LIMIT])

    def restrict_time(self, since: datetime | None, until: datetime | None) -> Self:
        """Only called for the chosen source."""
        return replace(self, rows=self.narrow(self.rows, since, until)) if since or until else self

    def read_batch(self, position: int | None, newer: bool, size: int) -> Batch:
        """One query."""
        rows = self._in_order(position, newer).values_list("pk", self.key)[:size]
        candidates = [Candidate(pk, key) for pk, key in rows]
        return Batch(candidates, len(candidates) < size)

    def read_timed(self, position: int | None, newer: bool, size: int) -> list[tuple[Any, Candidate]]:
        """The same with the first column of the order, for merging."""
        rows = self._in_order(position, newer).values_list(self.order[0], "pk", self.key)[:size]
        return [(at, Candidate(pk, key)) for at, pk, key in rows]

    def _in_order(self, position: int | None, newer: bool) -> QuerySet[Any]:
        rows = self.rows if self.once is None else self.rows.filter(self.once)
        if position is not None:
            rows = rows.filter(self._behind(position, "gt" if newer else "lt"))
        return rows.order_by(*(name if newer else f"-{name}" for name in self.order))

    def _behind(self, position: int, way: str) -> Q:
        """After the row of a position, column by column. The first column occurs once more, for its index."""
        last = self.rows.model._default_manager.filter(pk=position)
        values = {name: position if name == self.order[-1] else Subquery(last.values(name)) for name in self.order}
        first = self.order[0]
        wanted, level = Q(), Q()
        for name, value in values.items():
            wanted |= level & Q(**{f"{name}__{way}": value})
            level &= Q(**{name: value})
        return wanted if len(values) == 1 else Q(**{f"{first}__{way}e": values[first]}) & wanted


def turns_source(code: str, where: Q | RawSQL | None = None) -> OrderedSource:
    """Turns by their own record."""
    rows = CeConversationHistory.objects.all()
    return OrderedSource(
        code, "history_id", rows if where is None else rows.filter(where), ("history_id",), "history_id", _narrow_turns
    )


def conversation_source(conversation_id: Any) -> OrderedSource:
    """The turns of one conversation."""
    rows = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    return OrderedSource("c", "history_id", rows, ("turn_no", "history_id"), "history_id", _narrow_by_beginning)


def participant_source(participant: str) -> OrderedSource:
    """The turns of all participants with this name: session by session, newest first."""
    rows = CeConversationHistory.objects.filter(
        sql_condition("ce_conversation.channel <> 'api'"), conversation__remote_jid=participant
    )
    order = ("conversation__created_at", "conversation_id", "turn_no", "history_id")
    return OrderedSource("p", "history_id", rows, order, "history_id", _narrow_by_beginning)


def row_source(table: str, pk: str) -> OrderedSource:
    """The turns that a configuration row decided, without duplicates."""
    mine = CeTurnRow.objects.filter(table_name=table, row_pk=pk)
    again = mine.filter(turn_id=OuterRef("turn_id"), id__gt=OuterRef("id"))
    return OrderedSource("r", "turn_id", mine, ("created_at", "id"), "turn_id", _narrow_by_storing, ~Exists(again))


def feedback_source(kind: str) -> OrderedSource:
    """The turns with such a rating, in the order of their newest rating."""
    given = CeMcpUserFeedback.objects.filter(replaced_at=None, feedback_type=kind)
    again = given.filter(turn_id=OuterRef("turn_id"), feedback_id__gt=OuterRef("feedback_id"))
    order = ("created_at", "feedback_id")
    return OrderedSource("f", "turn_id", given, order, "turn_id", _narrow_by_giving, ~Exists(again))


@dataclass(frozen=True)
class StageSource:
    """The turns that reached a stage, at its last event. Several sources are merged."""

    parts: Sequence[OrderedSource]
    code = "s"
    column = "turn_id"

    def count_candidates(self) -> int:
        """Events, which are more than turns."""
        return min(sum(part.count_candidates() for part in self.parts), COUNT_LIMIT)

    def restrict_time(self, since: datetime | None, until: datetime | None) -> Self:
        """Each source."""
        return replace(self, parts=[part.restrict_time(since, until) for part in self.parts])

    def read_batch(self, position: int | None, newer: bool, size: int) -> Batch:
        """A query per source."""
        parts = [part.read_timed(position, newer, size) for part in self.parts]
        merged = merge(*parts, key=lambda entry: (entry[0], entry[1].position), reverse=not newer)
        candidates = [candidate for _, candidate in islice(merged, size)]
        return Batch(candidates, len(candidates) < size)


def stage_source(name: str) -> StageSource:
    """A stage from any step, unless it is a common one."""
    names = stored_names(name)
    events = CeAudit.objects.filter(sql_condition(IN_INDEX), turn_no__isnull=False)
    again = CeAudit.objects.filter(
        conversation_id=OuterRef("conversation_id"),
        turn_no=OuterRef("turn_no"),
        stage__in=names,
        seq__gt=OuterRef("seq"),
    )
    order = ("created_at", "audit_id")
    parts = [
        OrderedSource("s", "turn_id", events.filter(stage=name), order, "turn_id", _narrow_by_storing, ~Exists(again))
        for name in names
    ]
    return StageSource(parts)


def _narrow_by_storing(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """A turn's data besides its record is stored while it runs, or when it ends."""
    if since:
        rows = rows.filter(created_at__gte=since)
    return rows.filter(created_at__lte=until + SLACK) if until else rows


def _narrow_by_giving(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """Feedback comes after its turn."""
    return rows.filter(created_at__gte=since) if since else rows


def _narrow_by_beginning(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    if since:
        rows = rows.filter(created_at__gte=since)
    return rows.filter(created_at__lte=until) if until else rows


def _narrow_turns(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    return narrow_by_number(_narrow_by_beginning(rows, since, until), since, until)


def narrow_by_number(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """By numbers too, which rise with time except for simultaneous turns: no index has the times."""
    every = CeConversationHistory.objects.order_by("history_id").values_list("history_id", flat=True)
    first, last = every.first(), every.last()
    if first is None or last is None or last - first < _SPAN:
        return rows
    if since:
        rows = rows.filter(history_id__gte=_numbers_around(since - SLACK, first, last)[0])
    return rows.filter(history_id__lte=_numbers_around(until + SLACK, first, last)[1]) if until else rows


def _numbers_around(at: datetime, first: int, last: int) -> tuple[int, int]:
    """The numbers of two turns, a few hundred apart, around a time."""
    every = CeConversationHistory.objects.order_by("history_id").values_list("created_at", flat=True)
    while last - first > _SPAN // 40:
        middle = (first + last) // 2
        began = every.filter(history_id__gte=middle).first()
        if began is not None and began < at:
            first = middle
        else:
            last = middle
    return first, last
