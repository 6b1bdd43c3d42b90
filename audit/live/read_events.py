"""The database reads of a stream: short statements with indexes, and no open transactions."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Q

from audit.live.cursor import END, StreamCursor
from audit.live.messages import encode_event, encode_failure
from audit.models import CeRunningEvent
from audit.record import queries
from audit.record.events import EVENT_COLUMNS, IDS_PER_ROW, StoredEvent, expand_alone, expand_events, read_events
from audit.record.queries import EventPage
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.turn.enums import TurnStatus
from convengine.server.database.sql import dialect
from convengine.server.sessions.models import CLOSED_BY_CALL, CeConversationHistory
from convengine.server.turns.dead_turns import recover_expired_lease

#: Events per read.
SIZE = 200
_FAILED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_AFTER = tuple(str(stage) for stage in AFTER_THE_ANSWER)

#: Seconds for which a reader's mark on the conversation lasts.
WATCHED_SECONDS = 30
#: After the keys of all stored events.
_LAST = 2**62


@dataclass(frozen=True)
class StoredMessage:
    """One message to send, and the position after it."""

    cursor: StreamCursor
    name: str
    data: str


@dataclass
class StreamPage:
    """What comes after a position."""

    messages: list[StoredMessage] = field(default_factory=list)
    #: There is more; read again.
    more: bool = False
    #: The conversation no longer exists.
    gone: bool = False
    #: The session is over and everything was sent.
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
    failed = _read_failures(conversation_id, StreamCursor(turn_no, 0))
    others = _read_other_events(conversation_id, turn_no, 0)
    return StreamCursor(turn_no, END if failed else seq, _key_of(others[-1]) if others else 0)


def complete_cursor(conversation_id: str, cursor: StreamCursor) -> StreamCursor:
    """A position, completed by the events outside of turns before it."""
    if cursor.beside or not cursor.turn_no:
        return cursor
    last_turn = cursor.turn_no if cursor.seq else cursor.turn_no - 1
    turns = CeConversationHistory.objects.filter(conversation_id=uuid.UUID(conversation_id), turn_no__lte=last_turn)
    row = turns.order_by("-turn_no").values_list("history_id", flat=True).first() or 0
    seen = [
        _key_of(event)
        for event in _read_other_events(conversation_id, cursor.turn_no, 0)
        if _key_of(event) < row * IDS_PER_ROW
    ]
    return cursor._replace(beside=seen[-1] if seen else 0)


def read_after(conversation_id: str, cursor: StreamCursor) -> StreamPage:
    """The next page of events after a position."""
    row = _read_conversation(conversation_id)
    if row is None:
        return StreamPage(gone=True)
    if row.lapsed:
        # Nobody else may read this conversation for long, and its viewers wait for the end of the turn.
        recover_expired_lease(conversation_id)
    # Before the events, so that a failed turn's end does not come before its events.
    failed = _read_failures(conversation_id, cursor)
    turn_events = _read_turn_events(conversation_id, cursor)
    rows, more = turn_events.rows, turn_events.more
    beside = _read_other_events(conversation_id, cursor.turn_no, cursor.beside)[:SIZE]
    if more:
        last = rows[-1]
        beside = [event for event in beside if _key_of(event) < _key_of(last)]
        failed = [turn for turn in failed if turn.turn_no < (last.turn_no or 0)]
    page = StreamPage(_merge_messages(cursor, turn_events, beside, failed), more)
    if row.lifecycle in CLOSED and not row.may_go_on:
        # The next page says that nothing follows the last messages. Nobody wakes a reader of a closed conversation.
        page.more = more or bool(page.messages)
        page.ended = "" if page.messages else row.lifecycle
    return page


@dataclass(frozen=True)
class _Row:
    lifecycle: str
    may_go_on: bool
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
    # A conversation of the plain turn API continues with the next message, unless it was closed by a call (R39).
    return _Row(lifecycle, channel == "api" and by != CLOSED_BY_CALL, bool(lapsed))


def _read_turn_events(conversation_id: str, cursor: StreamCursor) -> EventPage:
    wanted = queries.EventFilter(without=_AFTER)
    return queries.read_page(uuid.UUID(conversation_id), wanted, (cursor.turn_no, cursor.seq), SIZE)


def _read_other_events(conversation_id: str, turn_no: int, after: int) -> list[StoredEvent]:
    """Events outside of turns, and later events of one of the last turns, after a key; in the order of storing."""
    wanted = Q(turn_no__isnull=True) | Q(turn_no__gte=max(turn_no - 1, 1))
    rows = CeConversationHistory.additions.filter(
        wanted, conversation_id=uuid.UUID(conversation_id), history_id__gte=after // IDS_PER_ROW
    )
    events = read_events(rows.defer(None).only(*EVENT_COLUMNS).order_by("history_id"))
    return [event for event in events if _key_of(event) > after]


def _key_of(event: StoredEvent) -> int:
    """The order of storing. The events of a running turn come last."""
    return _LAST if event.audit_id is None else event.audit_id


def _read_failures(conversation_id: str, cursor: StreamCursor) -> list[CeConversationHistory]:
    since = cursor.turn_no + 1 if cursor.seq >= END else cursor.turn_no
    turns = CeConversationHistory.objects.filter(
        conversation_id=uuid.UUID(conversation_id), turn_no__gte=since, status__in=_FAILED
    )
    columns = ("turn_no", "turn_id", "status", "error_code", "error_message", "modified_at")
    return list(turns.only(*columns).order_by("turn_no")[:SIZE])


def _merge_messages(
    cursor: StreamCursor, page: EventPage, beside: Sequence[StoredEvent], failed: Sequence[CeConversationHistory]
) -> list[StoredMessage]:
    """Events of turns in order, others in the order of storing; after a failed turn, its failure."""
    messages: list[StoredMessage] = []
    in_turns, others = _encode_turn_events(page), _encode_other_events(beside)
    pending, over = list(reversed(beside)), list(reversed(failed))

    def step(behind: StreamCursor, name: str, text: str) -> StreamCursor:
        messages.append(StoredMessage(behind, name, text))
        return behind

    for row in page.rows:
        while over and over[-1].turn_no < (row.turn_no or 0):
            cursor = step(*_failure_message(cursor, over.pop()))
        while pending and _key_of(pending[-1]) < _key_of(row):
            event = pending.pop()
            cursor = step(cursor._replace(beside=_key_of(event)), event.stage, others[_key_of(event)])
        position = row.turn_no or 0, row.seq
        cursor = step(cursor._replace(turn_no=position[0], seq=row.seq), row.stage, in_turns[position])
    for record in reversed(over):
        cursor = step(*_failure_message(cursor, record))
    for event in reversed(pending):
        cursor = step(cursor._replace(beside=_key_of(event)), event.stage, others[_key_of(event)])
    return messages


def _failure_message(cursor: StreamCursor, record: CeConversationHistory) -> tuple[StreamCursor, str, str]:
    why = {"turnNo": record.turn_no, "status": record.status, "errorCode": record.error_code}
    text = encode_failure(
        record.turn_no, str(record.turn_id), record.modified_at, {**why, "message": record.error_message}
    )
    return cursor._replace(turn_no=record.turn_no, seq=END), TURN_FAILED, text


def _encode_turn_events(page: EventPage) -> Mapping[tuple[int, int], str]:
    """The envelopes of the wanted events, computed from the first event of each turn."""
    wanted = set(map(queries.get_position, page.rows))
    events = expand_events(page.whole)
    return {
        position: encode_event(event) for event in events if (position := queries.get_position(event.row)) in wanted
    }


def _encode_other_events(beside: Sequence[StoredEvent]) -> Mapping[int, str]:
    """The envelopes of events outside of turns, and of later events, which begin with the session of their turn."""
    outside = expand_alone(event for event in beside if event.turn_no is None)
    late = expand_events(event for event in beside if event.turn_no is not None)
    return {_key_of(event.row): encode_event(event) for event in (*outside, *late)}
