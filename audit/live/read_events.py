"""The database reads of a stream: short statements with indexes, and no open transactions."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q

from audit.live.messages import END, StreamCursor, encode_event, encode_failure
from audit.models import CeRunningEvent
from audit.record import queries
from audit.record.events import (
    EVENT_COLUMNS,
    IDS_PER_ROW,
    Event,
    StoredEvent,
    expand_alone,
    expand_events,
    read_events,
)
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn.enums import TurnStatus
from convengine.server.database.sql import dialect
from convengine.server.sessions.models import CeConversationHistory, is_closed_for_good
from convengine.server.turns.dead_turns import recover_expired_lease

#: Events per read.
SIZE = 200
_FAILED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_AFTER = tuple(str(stage) for stage in AFTER_THE_ANSWER)

#: Seconds for which a reader's mark on the conversation lasts.
WATCHED_SECONDS = 30
#: Behind all stored events.
_LAST = 2**62


class LiveMessage(NamedTuple):
    #: The order of storing.
    order: int
    #: What it adds to a position.
    cursor: StreamCursor
    name: str
    data: str


@dataclass
class StreamPage:
    """What comes after a position."""

    messages: list[LiveMessage] = field(default_factory=list)
    #: There is more; read again.
    more: bool = False
    #: Why nothing will follow, as everything was sent; or blank.
    ended: str = ""


def read_versions(conversations: Sequence[str]) -> Mapping[str, tuple[Any, ...]]:
    """For each existing conversation a value that changes with every event. One statement."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT c.conversation_id, c.last_turn_no, c.version, c.lifecycle, c.lease_token IS NULL,
                       c.lease_expires_at < {sql.now()},
                       (SELECT max(r.id) FROM ce_running_event r WHERE r.conversation_id = c.conversation_id),
                       (SELECT max(h.history_id) FROM ce_conversation_history h
                         WHERE h.conversation_id = c.conversation_id AND h.source = 'ADDITION')
                  FROM ce_conversation c WHERE c.conversation_id IN ({", ".join(["%s"] * len(conversations))})""",
            [sql.uuid_param(key) for key in conversations],
        )
        return {str(uuid.UUID(str(key))): tuple(rest) for key, *rest in cursor.fetchall()}


def mark_watched(conversations: Sequence[str]) -> None:
    """Ask the next turns of these conversations to store their events while they run."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation SET watched_until = {sql.now(WATCHED_SECONDS)}
                 WHERE conversation_id IN ({", ".join(["%s"] * len(conversations))})""",
            [sql.uuid_param(key) for key in conversations],
        )


def newest_cursor(conversation_id: str) -> StreamCursor:
    """The position after everything that is stored."""
    key = uuid.UUID(conversation_id)
    turns = CeConversationHistory.objects.filter(conversation_id=key).order_by("-turn_no")
    running = CeRunningEvent.objects.filter(conversation_id=key).order_by("-id")
    stored = [rows.values_list("turn_no", "last_seq").first() or (0, 0) for rows in (turns, running)]
    turn_no, seq = max(stored)
    cursor = StreamCursor(turn_no, seq)
    for message in (*_list_failures(conversation_id, cursor), *_list_other_events(conversation_id, cursor)):
        cursor = cursor.advance(message.cursor)
    return cursor


def complete_cursor(conversation_id: str, cursor: StreamCursor) -> StreamCursor:
    """A position, completed by the events outside of turns before it."""
    if cursor.beside or not cursor.turn_no:
        return cursor
    last_turn = cursor.turn_no if cursor.seq else cursor.turn_no - 1
    turns = CeConversationHistory.objects.filter(conversation_id=uuid.UUID(conversation_id), turn_no__lte=last_turn)
    row = turns.order_by("-turn_no").values_list("history_id", flat=True).first() or 0
    others = [message.order for message in _list_other_events(conversation_id, cursor)]
    return cursor._replace(beside=max((order for order in others if order < row * IDS_PER_ROW), default=0))


def read_after(conversation_id: str, cursor: StreamCursor) -> StreamPage:
    """The next page of events after a position."""
    row = _read_conversation(conversation_id)
    if row is None:
        return StreamPage(ended="NOT_FOUND")
    if row.lapsed:
        # Nobody else may read this conversation for long, and its viewers wait for the end of the turn.
        recover_expired_lease(conversation_id)
    # Before the events, so that a failed turn's end does not come before its events.
    failures = list(_list_failures(conversation_id, cursor))
    wanted = queries.EventFilter(without=_AFTER)
    turn_page = queries.read_page(uuid.UUID(conversation_id), wanted, SIZE, after=cursor[:2])
    positions = set(map(queries.get_position, turn_page.rows))
    events = ((StreamCursor(*queries.get_position(event.row)), event) for event in expand_events(turn_page.whole))
    of_turns = [_to_message(event, position) for position, event in events if position[:2] in positions]
    more = turn_page.more
    last = of_turns[-1].order if more else _LAST
    messages = sorted([*of_turns, *failures, *_list_other_events(conversation_id, cursor)])
    page = StreamPage([each for each in messages if each.order <= last and cursor.advance(each.cursor) != cursor], more)
    if row.closed_for_good:
        # The next page says that nothing follows the last messages. Nobody wakes a reader of a closed conversation.
        page.more = more or bool(page.messages)
        page.ended = "" if page.messages else f"SESSION_{row.lifecycle}"
    return page


@dataclass(frozen=True)
class _Row:
    lifecycle: str
    closed_for_good: bool
    lapsed: bool


def _read_conversation(conversation_id: str) -> _Row | None:
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT lifecycle, channel, {sql.json_member("lifecycle_detail", "by")}, lease_expires_at < {sql.now()}
                  FROM ce_conversation WHERE conversation_id = %s""",
            [sql.uuid_param(conversation_id)],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    lifecycle, channel, by, lapsed = row
    return _Row(lifecycle, is_closed_for_good(channel, lifecycle, by), bool(lapsed))


def _list_other_events(conversation_id: str, cursor: StreamCursor) -> list[LiveMessage]:
    """Events outside of turns, and later events of one of the last turns, which begin with the session of their turn;
    in the order of storing.
    """
    wanted = Q(turn_no__isnull=True) | Q(turn_no__gte=max(cursor.turn_no - 1, 1))
    rows = CeConversationHistory.additions.filter(
        wanted, conversation_id=uuid.UUID(conversation_id), history_id__gte=cursor.beside // IDS_PER_ROW
    )
    events = [
        event
        for event in read_events(rows.defer(None).only(*EVENT_COLUMNS).order_by("history_id"))
        if _get_order(event) > cursor.beside
    ]
    outside = expand_alone(event for event in events if event.turn_no is None)
    late = expand_events(event for event in events if event.turn_no is not None)
    return sorted(_to_message(each, StreamCursor(0, 0, _get_order(each.row))) for each in (*outside, *late))


def _list_failures(conversation_id: str, cursor: StreamCursor) -> Iterator[LiveMessage]:
    """The ends of failed turns, each behind the events of its turn."""
    turns = CeConversationHistory.objects.filter(
        conversation_id=uuid.UUID(conversation_id), turn_no__gte=cursor.turn_no, status__in=_FAILED
    )
    columns = ("history_id", "turn_no", "turn_id", "status", "error_code", "error_message", "modified_at")
    for turn in turns.only(*columns).order_by("turn_no")[:SIZE]:
        order = (turn.history_id + 1) * IDS_PER_ROW - 1
        yield LiveMessage(order, StreamCursor(turn.turn_no, END), TURN_FAILED, encode_failure(turn))


def _to_message(event: Event, cursor: StreamCursor) -> LiveMessage:
    return LiveMessage(_get_order(event.row), cursor, event.row.stage, encode_event(event))


def _get_order(event: StoredEvent) -> int:
    """The events of a running turn come last."""
    return _LAST if event.audit_id is None else event.audit_id
