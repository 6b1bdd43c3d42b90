"""The database reads of a stream: short statements with indexes, and no open transactions."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Max, Q, QuerySet

from audit.live.cursor import END, StreamCursor
from audit.live.messages import encode_event, encode_failure
from audit.models import CeAudit
from audit.record import queries
from audit.record.expand import expand_events
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

#: (turn, seq) of an event; null for one outside of turns, whose `seq` continues from one to the next.
EventPosition = tuple[int | None, int]


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
            # A turn that stores its events step by step renews its lease with each.
            f"""SELECT c.conversation_id, c.last_turn_no, c.version, c.lifecycle, c.lease_token IS NULL,
                       c.lease_expires_at, c.lease_expires_at < {sql.now()},
                       (SELECT max(a.seq) FROM ce_audit a
                         WHERE a.conversation_id = c.conversation_id AND a.turn_no IS NULL)
                  FROM ce_conversation c WHERE c.conversation_id IN ({", ".join(["%s"] * len(conversations))})""",
            [sql.uuid_param(key) for key in conversations],
        )
        return {str(uuid.UUID(str(key))): tuple(rest) for key, *rest in cursor.fetchall()}


def newest_cursor(conversation_id: str) -> StreamCursor:
    """The position after everything that is stored."""
    events = CeAudit.objects.filter(conversation_id=conversation_id)
    last = events.filter(turn_no__isnull=False).order_by("-turn_no", "-seq").values_list("turn_no", "seq").first()
    turn_no, seq = last or (0, 0)
    failed = _read_failures(conversation_id, StreamCursor(turn_no, 0))
    return StreamCursor(turn_no, END if failed else seq, _last_other_event(conversation_id, turn_no))


def complete_cursor(conversation_id: str, cursor: StreamCursor) -> StreamCursor:
    """A position, completed by the events outside of turns before it."""
    if cursor.beside or not cursor.turn_no:
        return cursor
    before = Q(turn_no=cursor.turn_no - 1) | Q(turn_no=cursor.turn_no, seq__lte=cursor.seq)
    events = CeAudit.objects.filter(before, conversation_id=conversation_id).exclude(stage__in=_AFTER)
    last = events.aggregate(last=Max("audit_id"))["last"] or 0
    seen = (
        _select_other_events(conversation_id, cursor.turn_no).filter(audit_id__lt=last).aggregate(last=Max("audit_id"))
    )
    return cursor._replace(beside=seen["last"] or 0)


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
    beside = list(
        _select_other_events(conversation_id, cursor.turn_no)
        .filter(audit_id__gt=cursor.beside)
        .order_by("audit_id")[:SIZE]
    )
    if more:
        last = rows[-1]
        end = _stored_at(turn_events.whole)[_event_position(last)]
        beside = [event for event in beside if event.audit_id < end]
        failed = [turn for turn in failed if turn.turn_no < (last.turn_no or 0)]
    page = StreamPage(_merge_messages(cursor, turn_events, beside, failed), more)
    if not page.messages and row.lifecycle in CLOSED and not row.may_go_on:
        page.ended = row.lifecycle
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


def _select_other_events(conversation_id: str, turn_no: int) -> QuerySet[CeAudit]:
    """Events outside of turns, and a model's writing after the answer of one of the last turns."""
    late = Q(turn_no__gte=max(turn_no - 1, 1), stage__in=_AFTER)
    return CeAudit.objects.filter(Q(turn_no__isnull=True) | late, conversation_id=conversation_id)


def _last_other_event(conversation_id: str, turn_no: int) -> int:
    return _select_other_events(conversation_id, turn_no).aggregate(last=Max("audit_id"))["last"] or 0


def _read_failures(conversation_id: str, cursor: StreamCursor) -> list[CeConversationHistory]:
    since = cursor.turn_no + 1 if cursor.seq >= END else cursor.turn_no
    turns = CeConversationHistory.objects.filter(
        conversation_id=uuid.UUID(conversation_id), turn_no__gte=since, status__in=_FAILED
    )
    columns = ("turn_no", "turn_id", "status", "error_code", "error_message", "modified_at")
    return list(turns.only(*columns).order_by("turn_no")[:SIZE])


def _merge_messages(
    cursor: StreamCursor, page: EventPage, beside: Sequence[CeAudit], failed: Sequence[CeConversationHistory]
) -> list[StoredMessage]:
    """Events of turns in order, others in the order of storing; after a failed turn, its failure."""
    data, stored_at, messages = _encode_events(page, beside), _stored_at(page.whole), []
    pending, over = list(reversed(beside)), list(reversed(failed))

    def step(behind: StreamCursor, name: str, text: str) -> StreamCursor:
        messages.append(StoredMessage(behind, name, text))
        return behind

    for row in page.rows:
        while over and over[-1].turn_no < (row.turn_no or 0):
            cursor = step(*_failure_message(cursor, over.pop()))
        while pending and pending[-1].audit_id < stored_at[_event_position(row)]:
            cursor = step(
                cursor._replace(beside=pending[-1].audit_id), pending[-1].stage, data[_event_position(pending.pop())]
            )
        cursor = step(cursor._replace(turn_no=row.turn_no or 0, seq=row.seq), row.stage, data[_event_position(row)])
    for record in reversed(over):
        cursor = step(*_failure_message(cursor, record))
    for event in reversed(pending):
        cursor = step(cursor._replace(beside=event.audit_id), event.stage, data[_event_position(event)])
    return messages


def _failure_message(cursor: StreamCursor, record: CeConversationHistory) -> tuple[StreamCursor, str, str]:
    why = {"turnNo": record.turn_no, "status": record.status, "errorCode": record.error_code}
    text = encode_failure(
        record.turn_no, str(record.turn_id), record.modified_at, {**why, "message": record.error_message}
    )
    return cursor._replace(turn_no=record.turn_no, seq=END), TURN_FAILED, text


def _event_position(row: CeAudit) -> EventPosition:
    return row.turn_no, row.seq


def _stored_at(events: Sequence[CeAudit]) -> Mapping[EventPosition, int]:
    """For each event of whole turns the key of its row; for one without a row, that of the next."""
    keys, key = dict[EventPosition, int](), 0
    for event in reversed(events):
        key = event.audit_id or key
        keys[_event_position(event)] = key
    return keys


def _encode_events(page: EventPage, beside: Sequence[CeAudit]) -> Mapping[EventPosition, str]:
    """The envelopes, computed from the first event of each turn."""
    wanted = set(map(_event_position, (*page.rows, *beside)))
    late = {row.turn_no for row in beside if row.turn_no is not None} - {row.turn_no for row in page.whole}
    turns = [*page.whole, *(queries.read_turns(beside[0].conversation_id, late) if late else ())]
    outside = [row for row in beside if row.turn_no is None]
    events = [*expand_events(turns), *(event for row in outside for event in expand_events([row]))]
    return {_event_position(event.row): encode_event(event) for event in events if _event_position(event.row) in wanted}
