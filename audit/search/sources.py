"""Sources of turns for a search: each returns candidates newest first, after a position, from an index.

A position is the key of the source's own row; the database determines its order, so that two notations of one time
cannot differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, Self

from django.db.models import BooleanField, Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from audit.models import CeInboxMessage, CeMcpUserFeedback, CeTurnIndex
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.server.sessions.models import CeConversationHistory

#: A source with more candidates counts as large.
COUNT_LIMIT = 500
#: A turn is stored at most this much later than it began; a longer one may be missed at the edge of a time range.
SLACK = timedelta(minutes=10)
#: With fewer turns, the position of a time in them does not matter.
_SPAN = 20_000


class TurnCandidate(NamedTuple):
    """A turn that may match."""

    position: int
    #: Its `history_id` or its `turn_id`, depending on the source.
    key: Any


class Batch(NamedTuple):
    """Some candidates in order, and whether they are the last."""

    candidates: list[TurnCandidate]
    ended: bool


class TurnSource(Protocol):
    """Returns candidates."""

    @property
    def code(self) -> str:
        """Its name in cursors."""

    @property
    def column(self) -> str:
        """The column of the turn for its keys."""

    def count_candidates(self) -> int:
        """The number of candidates; COUNT_LIMIT means that many or more."""

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
    #: The column with the time of the turn, or of something after it; blank for none.
    time: str = "created_at"
    #: The time is that of something that may come long after the turn.
    is_later: bool = False
    #: Keeps the last of several rows of one turn; not used for counting.
    once: Any = field(default=None, repr=False)
    #: A column to count the rows by without their order, where another index than that of the order has all of them.
    counted: str = ""

    def count_candidates(self) -> int:
        """Counted in the order of the index, so that the database uses it."""
        return len(self.rows.order_by(*(f"-{name}" for name in self.order)).values_list("pk")[:COUNT_LIMIT])

    def count_turns(self, most: int) -> int:
        """The number of turns, at most `most`. Rows of one turn count once."""
        if self.once is None:
            rows = self.rows.order_by() if self.counted else self._in_order(None, newer=False)
            return rows.values(self.counted or "pk")[:most].count()
        # A turn may have several rows. Comparing all of them takes long, so the turns of some rows are counted.
        size = most
        while True:
            count = self.rows.order_by()[:size].aggregate(turns=Count(self.key, distinct=True), rows=Count("pk"))
            if count["turns"] >= most or count["rows"] < size:
                return min(int(count["turns"]), most)
            size *= 4

    def restrict_time(self, since: datetime | None, until: datetime | None) -> Self:
        """The rows of the range, and maybe some turns outside of it: the walk checks the times again.

        Only called for the chosen source.
        """
        rows = self.rows
        if since and self.time:
            rows = rows.filter(**{f"{self.time}__gte": since})
        if until and self.time and not self.is_later:
            rows = rows.filter(**{f"{self.time}__lte": until + SLACK})
        if self.order[0] == "history_id":
            rows = narrow_by_number(rows, since, until)
        return replace(self, rows=rows)

    def read_batch(self, position: int | None, newer: bool, size: int) -> Batch:
        rows = self._in_order(position, newer).values_list("pk", self.key)[:size]
        candidates = [TurnCandidate(pk, key) for pk, key in rows]
        return Batch(candidates, len(candidates) < size)

    def _in_order(self, position: int | None, newer: bool) -> QuerySet[Any]:
        """The rows behind a position in the direction of reading, one for each turn; all of them without a position."""
        rows = self.rows if self.once is None else self.rows.filter(self.once)
        if position is not None:
            rows = rows.filter(self._behind(position, "gt" if newer else "lt"))
        return rows.order_by(*(name if newer else f"-{name}" for name in self.order))

    def _behind(self, position: int, way: str) -> Q:
        """The condition on rows behind that of a position, column by column. `way` is `gt` or `lt`.

        The first column occurs once more, for its index.
        """
        last = self.rows.model._default_manager.filter(pk=position)
        values = {name: position if name == self.order[-1] else Subquery(last.values(name)) for name in self.order}
        first = self.order[0]
        wanted, level = Q(), Q()
        for name, value in values.items():
            wanted |= level & Q(**{f"{name}__{way}": value})
            level &= Q(**{name: value})
        return wanted if len(values) == 1 else Q(**{f"{first}__{way}e": values[first]}) & wanted


def turns_source(code: str, where: Q | RawSQL | None = None) -> OrderedSource:
    turns = CeConversationHistory.objects
    rows = turns.all() if where is None else turns.filter(where)
    return OrderedSource(code, "history_id", rows, ("history_id",), "history_id")


def conversation_source(conversation_id: Any) -> OrderedSource:
    rows = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    return OrderedSource("c", "history_id", rows, ("turn_no", "history_id"), "history_id")


def participant_source(names: Sequence[str]) -> OrderedSource:
    """The turns of all participants with these names: session by session, newest first."""
    called = Q(conversation__remote_jid=names[0]) if len(names) == 1 else Q(conversation__remote_jid__in=names)
    rows = CeConversationHistory.objects.filter(called, sql_condition(f"ce_conversation.channel <> '{PLAIN_CHANNEL}'"))
    order = ("conversation__created_at", "conversation_id", "turn_no", "history_id")
    # The index of turn numbers has all that counting needs; in the order above, each turn's row would be read.
    return OrderedSource("p", "history_id", rows, order, "history_id", counted="turn_no")


def index_source(code: str, kind: str, value: str) -> OrderedSource:
    """The turns that a configuration row decided, or that reached a stage; each once."""
    entries = CeTurnIndex.objects.filter(kind=kind, value=value)
    again = entries.filter(turn_id=OuterRef("turn_id"), id__gt=OuterRef("id"))
    return OrderedSource(code, "turn_id", entries, ("at", "id"), "turn_id", "at", once=~Exists(again))


def form_step_source(code: str) -> OrderedSource:
    """The turns in which a field of a form was refused or got no answer, or a form was left."""
    steps = " OR ".join(f"role LIKE '%%/{step}:%%'" for step in ("LEFT", "REFUSED", "MISSED"))
    entries = CeTurnIndex.objects.filter(sql_condition(f"kind = '{CeTurnIndex.STAGE}' AND ({steps})"))
    return OrderedSource(code, "turn_id", entries, ("at", "id"), "turn_id", "at")


def feedback_source(kind: str) -> OrderedSource:
    """The turns with such a rating, in the order of their newest rating."""
    given = CeMcpUserFeedback.objects.filter(replaced_at=None, feedback_type=kind)
    again = given.filter(turn_id=OuterRef("turn_id"), feedback_id__gt=OuterRef("feedback_id"))
    order = ("created_at", "feedback_id")
    return OrderedSource("f", "turn_id", given, order, "turn_id", is_later=True, once=~Exists(again))


def group_source(group: int) -> OrderedSource:
    """The turns with a message of a group of the inbox."""
    messages = CeInboxMessage.objects.filter(group=group)
    return OrderedSource("b", "history_id", messages, ("turn_id", "id"), "turn_id", time="")


def narrow_by_number(rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
    """Limit rows to the numbers of turns around a time range, because no index has the times; none of it is missed.

    Numbers rise with time except for simultaneous turns. Without a range, or with few turns, all rows stay.
    """
    if not since and not until:
        return rows
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
