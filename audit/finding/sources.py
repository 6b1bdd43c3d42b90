"""Where turns are looked up: each source gives candidates newest first, behind a place, as an index has them.

A place is the key of the source's own row; where it stands in the order the database says itself, so that two
notations of one time cannot meet.
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
from audit.stage_names import stored_names
from convengine.sessions.models import CeConversationHistory

#: Beyond so many candidates a source counts as one of many.
MANY = 500
#: A turn is stored later than it began, by so much at most; one that took longer may be missed at the edge of a time.
SLACK = timedelta(minutes=10)
#: With fewer turns nobody needs to find where in them a time stands.
_SPAN = 20_000


class Candidate(NamedTuple):
    """A turn that may be wanted."""

    place: int
    #: Its `history_id` or its `turn_id`, as the source says.
    key: Any


class Batch(NamedTuple):
    """Some candidates in order, and whether there are no more behind them."""

    candidates: list[Candidate]
    ended: bool


class Source(Protocol):
    """Gives candidates."""

    @property
    def code(self) -> str:
        """How cursors call it."""

    @property
    def column(self) -> str:
        """Which column of the turn its keys are of."""

    def few(self) -> int:
        """How many candidates there are; MANY stands for that many and more."""

    def within(self, since: datetime | None, until: datetime | None) -> Self:
        """The same without turns that did not begin then, as far as an index tells."""

    def batch(self, place: int | None, newer: bool, size: int) -> Batch:
        """About `size` candidates older than a place, newest first; or newer than it, oldest first."""


def literal(sql: str) -> RawSQL:
    """A condition as a partial index spells it: behind a parameter no database sees that it is the same."""
    return RawSQL(sql, [], output_field=BooleanField())  # noqa: S611 - texts of this package only


@dataclass(frozen=True)
class Ordered:
    """Rows in the order of some columns, the last of which is their key."""

    code: str
    column: str
    rows: QuerySet[Any] = field(repr=False)
    order: Sequence[str]
    #: What of a row is the turn's key.
    key: str
    #: Narrows the rows to a time.
    narrow: Callable[[QuerySet[Any], datetime | None, datetime | None], QuerySet[Any]] = field(repr=False)
    #: Leaves of several rows of one turn the last; not asked where rows are only counted.
    once: Any = field(default=None, repr=False)

    def few(self) -> int:
        """Counted in the order of the index, so that no other way is taken."""
        return len(self.rows.order_by(*(f"-{name}" for name in self.order)).values_list("pk")[:MANY])

    def within(self, since: datetime | None, until: datetime | None) -> Self:
        """Asked for the source that was chosen only."""
        return replace(self, rows=self.narrow(self.rows, since, until)) if since or until else self

    def batch(self, place: int | None, newer: bool, size: int) -> Batch:
        """One query."""
        found = self._in_order(place, newer).values_list("pk", self.key)[:size]
        candidates = [Candidate(pk, key) for pk, key in found]
        return Batch(candidates, len(candidates) < size)

    def timed(self, place: int | None, newer: bool, size: int) -> list[tuple[Any, Candidate]]:
        """The same with the first column of the order, for merging."""
        found = self._in_order(place, newer).values_list(self.order[0], "pk", self.key)[:size]
        return [(at, Candidate(pk, key)) for at, pk, key in found]

    def _in_order(self, place: int | None, newer: bool) -> QuerySet[Any]:
        rows = self.rows if self.once is None else self.rows.filter(self.once)
        if place is not None:
            rows = rows.filter(self._behind(place, "gt" if newer else "lt"))
        return rows.order_by(*(name if newer else f"-{name}" for name in self.order))

    def _behind(self, place: int, way: str) -> Q:
        """Behind the row of a place, column by column. The first column says so once more, for its index."""
        last = self.rows.model._default_manager.filter(pk=place)
        values = {name: place if name == self.order[-1] else Subquery(last.values(name)) for name in self.order}
        first = self.order[0]
        wanted, level = Q(), Q()
        for name, value in values.items():
            wanted |= level & Q(**{f"{name}__{way}": value})
            level &= Q(**{name: value})
        return wanted if len(values) == 1 else Q(**{f"{first}__{way}e": values[first]}) & wanted


def of_turns(code: str, where: Q | RawSQL | None = None) -> Ordered:
    """Turns by what stands in their own record."""
    rows = CeConversationHistory.objects.all()
    return Ordered(
        code, "history_id", rows if where is None else rows.filter(where), ("history_id",), "history_id", _of_time
    )


def of_conversation(conversation_id: Any) -> Ordered:
    """The turns of one conversation."""
    rows = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    return Ordered("c", "history_id", rows, ("turn_no", "history_id"), "history_id", _began_between)


def of_participant(participant: str) -> Ordered:
    """The turns of everybody who is called so on a channel: session by session, the newest first."""
    rows = CeConversationHistory.objects.filter(
        literal("ce_conversation.channel <> 'api'"), conversation__remote_jid=participant
    )
    order = ("conversation__created_at", "conversation_id", "turn_no", "history_id")
    return Ordered("p", "history_id", rows, order, "history_id", _began_between)


def of_row(table: str, pk: str) -> Ordered:
    """The turns that a configuration row decided; each once, however often it did."""
    mine = CeTurnRow.objects.filter(table_name=table, row_pk=pk)
    again = mine.filter(turn_id=OuterRef("turn_id"), id__gt=OuterRef("id"))
    return Ordered("r", "turn_id", mine, ("created_at", "id"), "turn_id", _stored_between, ~Exists(again))


def of_feedback(kind: str) -> Ordered:
    """The turns that were rated so, in the order in which they were; each once, at the newest of its ratings."""
    given = CeMcpUserFeedback.objects.filter(replaced_at=None, feedback_type=kind)
    again = given.filter(turn_id=OuterRef("turn_id"), feedback_id__gt=OuterRef("feedback_id"))
    order = ("created_at", "feedback_id")
    return Ordered("f", "turn_id", given, order, "turn_id", _given_since, ~Exists(again))


@dataclass(frozen=True)
class OfStage:
    """The turns that reached a stage; each once, at the last event of it. Several sources of a stage are merged."""

    parts: Sequence[Ordered]
    code = "s"
    column = "turn_id"

    def few(self) -> int:
        """Events, which are more than turns."""
        return min(sum(part.few() for part in self.parts), MANY)

    def within(self, since: datetime | None, until: datetime | None) -> Self:
        """Each of them."""
        return replace(self, parts=[part.within(since, until) for part in self.parts])

    def batch(self, place: int | None, newer: bool, size: int) -> Batch:
        """A query for each source."""
        parts = [part.timed(place, newer, size) for part in self.parts]
        merged = merge(*parts, key=lambda one: (one[0], one[1].place), reverse=not newer)
        candidates = [candidate for _, candidate in islice(merged, size)]
        return Batch(candidates, len(candidates) < size)


def of_stage(name: str) -> OfStage:
    """A stage from whichever step it came, unless it is a common one."""
    names = stored_names(name)
    told = CeAudit.objects.filter(literal(IN_INDEX), turn_no__isnull=False)
    again = CeAudit.objects.filter(
        conversation_id=OuterRef("conversation_id"),
        turn_no=OuterRef("turn_no"),
        stage__in=names,
        seq__gt=OuterRef("seq"),
    )
    order = ("created_at", "audit_id")
    parts = [
        Ordered("s", "turn_id", told.filter(stage=one), order, "turn_id", _stored_between, ~Exists(again))
        for one in names
    ]
    return OfStage(parts)


def _stored_between(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """What a turn leaves beside its record is stored while it runs, or when it ends."""
    if since:
        rows = rows.filter(created_at__gte=since)
    return rows.filter(created_at__lte=until + SLACK) if until else rows


def _given_since(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """Nobody rates what was not said yet."""
    return rows.filter(created_at__gte=since) if since else rows


def _began_between(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    if since:
        rows = rows.filter(created_at__gte=since)
    return rows.filter(created_at__lte=until) if until else rows


def _of_time(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    return between(_began_between(rows, since, until), since, until)


def between(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """By numbers too, which rise with time but for turns that run at the same moment: no index has the times."""
    every = CeConversationHistory.objects.order_by("history_id").values_list("history_id", flat=True)
    first, last = every.first(), every.last()
    if first is None or last is None or last - first < _SPAN:
        return rows
    if since:
        rows = rows.filter(history_id__gte=_around(since - SLACK, first, last)[0])
    return rows.filter(history_id__lte=_around(until + SLACK, first, last)[1]) if until else rows


def _around(at: datetime, first: int, last: int) -> tuple[int, int]:
    """The numbers of two turns, a few hundred apart, between which a time stands."""
    every = CeConversationHistory.objects.order_by("history_id").values_list("created_at", flat=True)
    while last - first > _SPAN // 40:
        middle = (first + last) // 2
        began = every.filter(history_id__gte=middle).first()
        if began is not None and began < at:
            first = middle
        else:
            last = middle
    return first, last
