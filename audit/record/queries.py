"""Read events, turn by turn from the rows of the record, by keyset, never with a count of a large table."""

import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Q

from audit.models import CeTurnIndex
from audit.record.events import EVENT_COLUMNS, Event, StoredEvent, expand_alone, read_events
from audit.record.running import read_running_events
from audit.record.sql_views import has_in_document
from audit.record.turn_index import has_stage
from convengine.engine.stages import COMMON, STAGES, base_name
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.api.models import CeApiKey
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.turn_reader import LifecycleMove
from convengine.server.sessions.models import CeConversationHistory

#: The columns of a turn record in lists.
_TURN_COLUMNS = (
    *("conversation_id", "turn_no", "turn_id", "created_at", "status", "source", "error_code", "error_message"),
    *("intent_code", "state_code", "config_version", "duration_ms", "user_input", "assistant_output", "cost"),
    *("context_epoch", "replayable", "audit_incomplete", "request_id"),
)
#: No turn lasts this long.
_SLACK = timedelta(hours=1)
#: Turns per read, at first and at most.
_FIRST_TURNS, _MOST_TURNS = 8, 100

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
    #: In the stored payload, in any case.
    text: str = ""
    #: Names of unwanted stages.
    without: Collection[str] = ()
    #: Class names of steps; none for all events, including those outside of steps.
    steps: Collection[str] = ()

    @property
    def selective(self) -> bool:
        """True when a field other than `turn_no` and `without` limits which events of a turn are wanted."""
        return bool(self.stages or self.since or self.until or self.text or self.steps)

    @property
    def turns(self) -> Q:
        """The condition on turns that may have wanted events."""
        wanted = Q() if self.turn_no is None else Q(turn_no=self.turn_no)
        if self.since:
            wanted &= Q(created_at__gte=self.since - _SLACK)
        if self.until:
            wanted &= Q(created_at__lte=self.until)
        if self.text and _is_stored_verbatim(self.text):
            wanted &= Q(has_in_document(self.text, any_case=True))
        if self.stages and all(stage in STAGES and stage not in COMMON for stage in self.stages):
            wanted &= Q(has_stage(*self.stages))
        return wanted

    def admits(self, event: StoredEvent) -> bool:
        """True for a wanted event. The turn is not asked: `turns` chooses it."""
        return (
            self._admits_stage(event.stage)
            and event.stage not in self.without
            and (not self.steps or event.step in self.steps)
            and (self.since is None or event.created_at >= self.since)
            and (self.until is None or event.created_at <= self.until)
            and (not self.text or self.text.casefold() in dumps(event.payload_json).casefold())
        )

    def _admits_stage(self, stage: str) -> bool:
        """True if a wanted stage name stands for this stage, or if all stages are wanted."""
        return not self.stages or any(
            re.fullmatch(".*".join(map(re.escape, name.split("*"))), stage, re.IGNORECASE)
            if "*" in name
            else name in (stage, base_name(stage))
            for name in self.stages
        )


class EventPage(NamedTuple):
    """A part of a conversation's events."""

    #: The wanted ones, in order.
    rows: Sequence[StoredEvent]
    #: All events of their turns from the first of each, to compute states.
    whole: Sequence[StoredEvent]
    #: There are more in the direction of reading.
    more: bool


def read_page(
    conversation_id: uuid.UUID,
    wanted: EventFilter,
    size: int,
    *,
    after: EventPosition | None = None,
    before: EventPosition | None = None,
) -> EventPage:
    """Up to `size` wanted events in order: the first ones after a position, or the last ones before another.

    With `before`, the last ones, which also come after `after`. Without both, the first ones of the conversation.
    Whole turns are read until the page is full.
    """
    newest_first = before is not None
    where = Q(turn_no__lte=before[0]) if before else Q(turn_no__gte=after[0]) if after else Q()
    turns: list[list[StoredEvent]] = []
    count, most, more = 0, _FIRST_TURNS, True
    running = group_by_turn(read_running_events(conversation_id, wanted.turn_no))

    def is_wanted(event: StoredEvent) -> bool:
        position = get_position(event)
        is_between = (after is None or position > after) and (before is None or position < before)
        return is_between and wanted.admits(event)

    while more and count <= size:
        numbers, more = _list_turn_numbers(conversation_id, wanted.turns & where, most, newest_first=newest_first)
        by_turn = group_by_turn(read_turns(conversation_id, numbers)) if numbers else {}
        if newest_first or not more:
            # The running turn is the newest, and has no row yet.
            by_turn, running = {**running, **by_turn}, {}
        read = [by_turn[turn_no] for turn_no in sorted(by_turn, reverse=newest_first)]
        count += sum(is_wanted(event) for turn in read for event in turn)
        turns += read
        if more:
            # Whole turns were read: the rest begins after the last.
            where = Q(turn_no__lt=numbers[-1]) if newest_first else Q(turn_no__gt=numbers[-1])
            most = min(most * 2, _MOST_TURNS)
    in_order = [event for turn in (reversed(turns) if newest_first else turns) for event in turn]
    rows = list(filter(is_wanted, in_order))
    part = rows[-size:] if newest_first else rows[:size]
    return EventPage(part, in_order, more or len(rows) > size)


def read_turns(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> list[StoredEvent]:
    """All events of some turns, in order: of their rows, of later additions, and of the running turn among them."""
    numbers = set(turn_nos)
    rows = CeConversationHistory._base_manager.filter(conversation_id=conversation_id, turn_no__in=numbers)
    events = list(read_events(rows.only(*EVENT_COLUMNS)))
    if not numbers <= {event.turn_no for event in events}:
        events += [event for event in read_running_events(conversation_id) if event.turn_no in numbers]
    return sorted(events, key=get_position)


def group_by_turn(events: Iterable[StoredEvent]) -> dict[int, list[StoredEvent]]:
    return {turn_no: list(of_turn) for turn_no, of_turn in groupby(events, attrgetter("turn_no"))}


def read_outside_events(conversation_id: uuid.UUID) -> list[StoredEvent]:
    """The events outside of turns, oldest first."""
    rows = CeConversationHistory.additions.filter(conversation_id=conversation_id, turn_no=None)
    return list(read_events(rows.defer(None).only(*EVENT_COLUMNS).order_by("history_id")))


def expand_outside(conversation_id: uuid.UUID, wanted: EventFilter) -> Iterator[Event]:
    """The wanted events outside of turns, whole; none if one turn is wanted."""
    if wanted.turn_no is None:
        yield from expand_alone(filter(wanted.admits, read_outside_events(conversation_id)))


def _list_turn_numbers(
    conversation_id: uuid.UUID, wanted: Q, most: int, *, newest_first: bool
) -> tuple[list[int], bool]:
    """The numbers of the first `most` wanted turns, in order or `newest_first`, and whether there are more."""
    turns = CeConversationHistory.objects.filter(wanted, conversation_id=conversation_id)
    ordered = turns.order_by("-turn_no" if newest_first else "turn_no").values_list("turn_no", flat=True)
    numbers = [number for number in ordered[: most + 1] if number is not None]
    return numbers[:most], len(numbers) > most


def get_position(row: StoredEvent) -> EventPosition:
    return row.turn_no or 0, row.seq


def _is_stored_verbatim(text: str) -> bool:
    """True for a text that JSON does not escape, and that databases compare in any case as Python does."""
    return text.isascii() and text.isprintable() and not set(text) & {'"', "\\"}


def read_records(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> dict[int, CeConversationHistory]:
    """The turn records by turn number, without the large columns."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=set(turn_nos))
    return {record.turn_no: record for record in turns.defer("assistant_output")}


def read_turn_page(
    conversation_id: uuid.UUID, size: int, before: int | None = None, after: int | None = None
) -> tuple[list[CeConversationHistory], bool]:
    """Up to `size` turn records, newest first, and whether there are more in the direction of reading.

    These are the oldest ones after `after`; without it, the newest ones, and only those before `before` if it is given.
    Only the columns of lists are loaded.
    """
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id).only(*_TURN_COLUMNS)
    if before is not None:
        turns = turns.filter(turn_no__lt=before)
    if after is not None:
        turns = turns.filter(turn_no__gt=after)
    rows = list(turns.order_by("-turn_no" if after is None else "turn_no")[: size + 1])
    page = rows[:size]
    return page if after is None else page[::-1], len(rows) > size


def read_last_seq(conversation_id: str, turn_no: int | None) -> int:
    """The number of the last event of a turn and of its additions; 0 when there is none."""
    key = uuid.UUID(str(conversation_id))
    rows = CeConversationHistory._base_manager.filter(conversation_id=key, turn_no=turn_no)
    return max(rows.values_list("last_seq", flat=True), default=0)


def newest_turn_numbers(conversation_id: uuid.UUID, before: int | None, size: int) -> list[int]:
    """The numbers of the newest turns, at most `size`, oldest first; with `before`, of the newest before that turn."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    if before is not None:
        turns = turns.filter(turn_no__lt=before)
    return sorted(turns.order_by("-turn_no").values_list("turn_no", flat=True)[:size])


def list_messages_not_understood(limit: int) -> list[str]:
    """The newest messages that no intent got, each once, at most `limit`; as many of each kind are read.

    These are the turns that end without an intent, and those whose message was recorded as not understood.
    """
    turns = CeConversationHistory.objects.exclude(user_input=None).order_by("-history_id")
    without_intent = turns.filter(intent_code=UNKNOWN).values_list("history_id", "user_input")[:limit]
    of_stage = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value=NOT_UNDERSTOOD)
    events = of_stage.order_by("-at").values_list("turn_id")[:limit]
    recorded = turns.filter(turn_id__in=[turn_id for (turn_id,) in events]).values_list("history_id", "user_input")
    newest = sorted({*without_intent, *recorded}, reverse=True)
    return list(dict.fromkeys(text.strip() for _, text in newest if text and text.strip()))[:limit]


#: Turns that left the session unchanged.
_UNDONE = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
#: Changes outside of turns are few: an end by time or by a call, and reopenings.
_OUTSIDE = 100


def list_moves(conversation_id: uuid.UUID, first: int, last: int) -> list[LifecycleMove]:
    """The changes in the turns from `first` to `last`, and after each of them, in order. Two queries.

    Of the changes outside of turns, those among the newest 100 additions are read. A turn that failed or was
    interrupted changed nothing, except that it may have become INTERRUPTED.
    """
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__gte=first, turn_no__lte=last)
    # The index knows which of the turns changed it.
    changing = read_rows(
        turns.filter(has_stage(SESSION_LIFECYCLE)).defer(None).only(*EVENT_COLUMNS, "status").order_by("turn_no")
    )
    undone = {row.turn_no for row in changing if row.status in _UNDONE}
    inside = [
        move
        for event in read_events(changing)
        if event.stage == SESSION_LIFECYCLE
        and ((move := _parse_move(event)).turn_no not in undone or move.end == Lifecycle.INTERRUPTED.value)
    ]
    additions = CeConversationHistory.additions.filter(conversation_id=conversation_id, turn_no=None)
    newest = read_rows(additions.defer(None).only(*EVENT_COLUMNS).order_by("-history_id")[:_OUTSIDE])
    outside = [_parse_move(event) for event in read_events(reversed(newest)) if event.stage == SESSION_LIFECYCLE]
    # An event outside of turns names the last turn before it. The sort is stable.
    fitting = (move for move in (*inside, *outside) if first <= move.turn_no <= last)
    return sorted(fitting, key=lambda move: (move.turn_no, move.at))


def _parse_move(event: StoredEvent) -> LifecycleMove:
    """The change in an event. Outside of turns, its payload names the turn before it."""
    payload = event.payload_json
    turn_no = event.turn_no if event.turn_no is not None else int(payload.get("turn_no") or 0)
    return LifecycleMove(
        event.created_at, str(payload.get("from")), str(payload.get("to")), str(payload.get("reason")), turn_no
    )


def list_workspaces() -> list[str]:
    """The names of the deployment's workspaces in order, with the default one always; one query."""
    return sorted({"default", *CeApiKey.objects.order_by().values_list("workspace_id", flat=True).distinct()})
