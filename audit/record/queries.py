"""Read events: always by keyset, never with a count of a large table (law 8)."""

import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Sum

from audit.models import CeAudit, CeLlmCallLog
from audit.record.elision import follows, restore_elided_events
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_EXIT
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.app_interfaces import RowUsage
from convengine.server.database.sql import dialect
from convengine.server.sessions.models import CeConversation, CeConversationHistory

_FRAME = (STEP_ENTER, STEP_EXIT)
#: The columns of a turn record in lists.
_TURN_COLUMNS = (
    *("conversation_id", "turn_no", "turn_id", "created_at", "status", "source", "error_code", "error_message"),
    *("intent_code", "state_code", "config_version", "duration_ms", "user_input", "assistant_output"),
    *("context_epoch", "replayable", "audit_incomplete"),
)


#: A turn writes its timing after its steps, and no turn lasts this long.
_SLACK = timedelta(hours=1)
_WANTED = "is_wanted"
#: Minimum starts, or ends, of steps in a turn, unless it was stopped or failed.
_FRAMES = 20

#: (turn, seq): the position of an event in its conversation.
EventPosition = tuple[int, int]


@dataclass(frozen=True)
class EventFilter:
    """Which events of a conversation's turns are wanted; empty fields match everything."""

    turn_no: int | None = None
    #: Stage names; `*` stands for any characters, and a plain name also matches `NAME (source)`.
    stages: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    #: In the stored payload.
    text: str = ""
    #: Names of unwanted stages.
    without: Collection[str] = ()

    @property
    def selective(self) -> bool:
        """True when only some events of a turn are wanted."""
        return bool(self.stages or self.since or self.until or self.text)

    @property
    def stored(self) -> Q:
        """The wanted rows."""
        return self._in_turns & self._like

    @property
    def outside(self) -> Q:
        """The wanted rows outside of turns."""
        return Q(turn_no=None) & self._like if self.turn_no is None else Q(pk__in=[])

    @property
    def telling(self) -> Q:
        """The rows from which wanted events without rows follow."""
        if not self.names_frames:
            return Q(pk__in=[])
        timing_rows = self._in_turns & Q(stage=PIPELINE_TIMING)
        if self.since:
            timing_rows &= Q(created_at__gte=self.since)
        if self.until:
            # Of the many turns after that time, only the one that ran at it.
            began = CeAudit.objects.filter(
                conversation_id=OuterRef("conversation_id"), turn_no=OuterRef("turn_no"), created_at__lte=self.until
            )
            timing_rows &= Q(created_at__lte=self.until + _SLACK) & Q(Exists(began))
        return timing_rows

    @property
    def names_frames(self) -> bool:
        """True when starts and ends of steps are wanted."""
        return not self.text and any(map(self._names, _FRAME))

    def turns_of(self, size: int) -> int:
        """How many turns to read first for this many events: nearly each has twenty without rows."""
        return size // _FRAMES + 2 if self.names_frames else size + 1

    def admits(self, frame: CeAudit) -> bool:
        """Whether an event without a row is wanted."""
        return (
            not self.text
            and self._names(frame.stage)
            and (self.since is None or frame.created_at >= self.since)
            and (self.until is None or frame.created_at <= self.until)
        )

    @property
    def _like(self) -> Q:
        wanted = _stage_condition(self.stages) if self.stages else Q()
        if self.since:
            wanted &= Q(created_at__gte=self.since)
        if self.until:
            wanted &= Q(created_at__lte=self.until)
        if self.text:
            wanted &= Q(payload_json__icontains=self.text)
        return wanted & ~Q(stage__in=self.without) if self.without else wanted

    @property
    def _in_turns(self) -> Q:
        return Q(turn_no__isnull=False) if self.turn_no is None else Q(turn_no=self.turn_no)

    def _names(self, stage: str) -> bool:
        return not self.stages or any(re.fullmatch(_wildcard_regex(name), stage, re.IGNORECASE) for name in self.stages)


class EventPage(NamedTuple):
    """A part of a conversation's events."""

    #: The wanted ones, in order.
    rows: Sequence[CeAudit]
    #: All events of their turns from the first of each, to compute states.
    whole: Sequence[CeAudit]
    #: There are more in the direction of reading.
    more: bool


def find_conversation(conversation_id: uuid.UUID, workspace_id: str) -> CeConversation | None:
    """The conversation if it exists in the workspace (R53)."""
    return CeConversation.objects.filter(pk=conversation_id, workspace_id=workspace_id).first()


def read_page(conversation_id: uuid.UUID, wanted: EventFilter, after: EventPosition | None, size: int) -> EventPage:
    """Up to `size` wanted events after a position, or from the beginning."""
    behind = Q() if after is None else _after_position(*after)
    return _read_page(conversation_id, wanted, behind, lambda position: after is None or position > after, size)


def read_page_before(conversation_id: uuid.UUID, wanted: EventFilter, before: EventPosition, size: int) -> EventPage:
    """Up to `size` wanted events before a position, in order."""
    turn_no, seq = before
    # An event without a row comes before the row that it follows from.
    front = (
        Q(turn_no__lt=turn_no) | Q(turn_no=turn_no, seq__lt=seq) & wanted.stored | Q(turn_no=turn_no) & wanted.telling
    )
    return _read_page(conversation_id, wanted, front, lambda position: position < before, size, newest_first=True)


def _read_page(
    conversation_id: uuid.UUID,
    wanted: EventFilter,
    where: Q,
    fits: Callable[[EventPosition], bool],
    size: int,
    *,
    newest_first: bool = False,
) -> EventPage:
    """Read whole turns until a page is full."""
    order = ("-turn_no", "-seq") if newest_first else ("turn_no", "seq")
    turns: list[list[tuple[CeAudit, bool]]] = []
    count, most, more = 0, wanted.turns_of(size), True
    while more and count <= size:
        numbers, more = _turn_numbers(conversation_id, (wanted.stored | wanted.telling) & where, size, *order)
        numbers, more = numbers[:most], more or len(numbers) > most
        for turn in _read_marked_turns(conversation_id, numbers, wanted, order):
            turns.append([(row, is_wanted and fits(get_position(row))) for row, is_wanted in turn])
            count += sum(is_wanted for _, is_wanted in turns[-1])
            if count > size:
                break
        if more:
            # Whole turns were read: the rest begins after the last.
            last = numbers[-1]
            where, most = Q(turn_no__lt=last) if newest_first else Q(turn_no__gt=last), most * 2
    in_order = [pair for turn in (reversed(turns) if newest_first else turns) for pair in turn]
    rows = [row for row, is_wanted in in_order if is_wanted]
    part = rows[-size:] if newest_first else rows[:size]
    return EventPage(part, [row for row, _ in in_order], more or count > size)


def read_turns(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> list[CeAudit]:
    """All events of some turns, in order."""
    return list(
        restore_elided_events(
            _select_events(conversation_id).filter(turn_no__in=set(turn_nos)).order_by("turn_no", "seq")
        )
    )


def _select_events(conversation_id: uuid.UUID) -> QuerySet[CeAudit]:
    return CeAudit.objects.filter(conversation_id=conversation_id)


def _turn_numbers(conversation_id: uuid.UUID, wanted: Q, size: int, *order: str) -> tuple[list[int], bool]:
    """The numbers of the turns of the first rows, and whether there are rows in more of them."""
    turn_nos = list(
        _select_events(conversation_id).filter(wanted).order_by(*order).values_list("turn_no", flat=True)[: size + 1]
    )
    return [number for number in dict.fromkeys(turn_nos) if number is not None], len(turn_nos) > size


def _read_marked_turns(
    conversation_id: uuid.UUID, numbers: Sequence[int], wanted: EventFilter, order: Sequence[str]
) -> Iterator[list[tuple[CeAudit, bool]]]:
    """Turn by turn, all events of each in order, and whether they are wanted."""
    is_wanted = ExpressionWrapper(wanted.stored, output_field=BooleanField())
    events = (
        _select_events(conversation_id).filter(turn_no__in=numbers).annotate(**{_WANTED: is_wanted}).order_by(*order)
    )
    for _, turn in groupby(events, attrgetter("turn_no")):
        rows = restore_elided_events(sorted(turn, key=attrgetter("seq")))
        yield [(row, wanted.admits(row) if follows(row) else bool(getattr(row, _WANTED))) for row in rows]


def get_position(row: CeAudit) -> EventPosition:
    """The position of an event in its conversation."""
    return row.turn_no or 0, row.seq


def _after_position(turn_no: int, seq: int) -> Q:
    return Q(turn_no__gt=turn_no) | Q(turn_no=turn_no, seq__gt=seq)


def read_records(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> dict[int, CeConversationHistory]:
    """The turn records by turn number, without their recordings."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=set(turn_nos))
    return {record.turn_no: record for record in turns.defer("recording", "trace_graph", "assistant_output")}


def read_turn_page(
    conversation_id: uuid.UUID, size: int, before: int | None = None, after: int | None = None
) -> tuple[list[CeConversationHistory], bool]:
    """Up to `size` turn records, newest first, and whether there are more in that direction.

    Before `before` the newest; after `after` the oldest. Without recordings and the like.
    """
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id).only(*_TURN_COLUMNS)
    if after is not None:
        rows = list(turns.filter(turn_no__gt=after).order_by("turn_no")[: size + 1])
        return list(reversed(rows[:size])), len(rows) > size
    if before is not None:
        turns = turns.filter(turn_no__lt=before)
    rows = list(turns.order_by("-turn_no")[: size + 1])
    return rows[:size], len(rows) > size


def read_last_seq(conversation_id: str, turn_no: int | None) -> int:
    """The number of the last event of a turn, or outside of turns; 0 when there is none."""
    events = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    return events.order_by("-seq").values_list("seq", flat=True).first() or 0


def newest_turn_numbers(conversation_id: uuid.UUID, before: int | None, size: int) -> list[int]:
    """The numbers of up to `size` turns before `before`, oldest first."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    if before is not None:
        turns = turns.filter(turn_no__lt=before)
    return sorted(turns.order_by("-turn_no").values_list("turn_no", flat=True)[:size])


def _stage_condition(names: Sequence[str]) -> Q:
    wanted = Q()
    for name in names:
        if "*" in name:
            # The standard library's translation of stars is invalid in PostgreSQL.
            wanted |= Q(stage__iregex=f"^{_wildcard_regex(name)}$")
        else:
            wanted |= Q(stage=name) | Q(stage__startswith=f"{name} (")
    return wanted


def _wildcard_regex(name: str) -> str:
    return ".*".join(re.escape(part) for part in name.split("*"))


def sum_call_costs(turns: Sequence[CeConversationHistory]) -> dict[UUID, Decimal]:
    """The cost of each turn's model calls with a price. One query."""
    calls = CeLlmCallLog.objects.filter(
        conversation_id__in={turn.conversation_id for turn in turns},
        turn_no__in={turn.turn_no for turn in turns},
        turn_id__in=[turn.turn_id for turn in turns],
        cost__isnull=False,
    )
    return dict(calls.values_list("turn_id").annotate(Sum("cost")))


def list_messages_not_understood(limit: int) -> list[str]:
    """The newest messages that no intent got, each once; at most `limit` of each kind are read.

    These are the turns that end without an intent, and those whose message was recorded as not understood.
    """
    turns = CeConversationHistory.objects.exclude(user_input=None).order_by("-history_id")
    without_intent = turns.filter(intent_code=UNKNOWN).values_list("history_id", "user_input")[:limit]
    events = CeAudit.objects.filter(stage=NOT_UNDERSTOOD).order_by("-created_at").values_list("turn_id")[:limit]
    recorded = turns.filter(turn_id__in=[turn_id for (turn_id,) in events]).values_list("history_id", "user_input")
    newest = sorted({*without_intent, *recorded}, reverse=True)
    return list(dict.fromkeys(text.strip() for _, text in newest if text and text.strip()))[:limit]


#: Counting ends here, because each counted entry must be read.
MOST = 1000
_SQL = """SELECT wanted.one, wanted.other,
    (SELECT count(*) FROM (SELECT 1 FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other
        AND created_at >= %s LIMIT %s) AS found),
    (SELECT max(created_at) FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other)
    FROM wanted"""


def count_row_usage(rows: Sequence[tuple[str, str]], since: datetime) -> dict[tuple[str, str], RowUsage]:
    """For rows by (table, primary key as text): how often each decided a turn since then; one query for all."""
    if not rows:
        return {}
    sql_dialect = dialect()
    values = ", ".join(["(%s, %s)"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH wanted(one, other) AS (VALUES {values}) {_SQL}",
            [*(part for row in rows for part in row), sql_dialect.time_param(since), MOST],
        )
        usages = cursor.fetchall()
    return {
        (table, pk): RowUsage(count, sql_dialect.read_time(last) if last is not None else None)
        for table, pk, count, last in usages
    }
