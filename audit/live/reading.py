"""What a stream reads from the database: short statements, each found by an index, nothing held between them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Max, Q, QuerySet

from audit import queries
from audit.expand import expanded
from audit.live.place import END, Place
from audit.live.told import audit_data, failed_data
from audit.models import CeAudit
from audit.queries import EventPage
from convengine.continuity.lifecycle import CLOSED
from convengine.domain.enums import TurnStatus
from convengine.domain.stages import AFTER_THE_ANSWER, Stage
from convengine.sessions.ending import BY_CALL
from convengine.sessions.failed import bury
from convengine.sessions.models import CeConversationHistory
from convengine.sessions.sql import dialect

#: Events of one look.
SIZE = 200
_FAILED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_AFTER = tuple(stage.value for stage in AFTER_THE_ANSWER)

#: (turn, seq) of an event; null for one outside of turns, of which `seq` goes on from one to the next.
At = tuple[int | None, int]


@dataclass(frozen=True)
class Told:
    """One message to be sent, and the place behind it."""

    place: Place
    name: str
    data: str


@dataclass
class Found:
    """What lies behind a place."""

    told: list[Told] = field(default_factory=list)
    #: There is more; look again.
    more: bool = False
    #: The conversation is not there any more.
    gone: bool = False
    #: The session is over and everything was told.
    ended: str = ""


def stands(conversations: Sequence[str]) -> Mapping[str, tuple[Any, ...]]:
    """For each conversation that exists a value that changes when something happened in it. One statement."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            # A turn that stores its events step by step renews its lease with each.
            f"""SELECT c.conversation_id, c.last_turn_no, c.version, c.lifecycle, c.lease_token IS NULL,
                       c.lease_expires_at, c.lease_expires_at < {here.now()},
                       (SELECT max(a.seq) FROM ce_audit a
                         WHERE a.conversation_id = c.conversation_id AND a.turn_no IS NULL)
                  FROM ce_conversation c WHERE c.conversation_id IN ({", ".join(["%s"] * len(conversations))})""",
            [here.uuid(key) for key in conversations],
        )
        return {str(uuid.UUID(str(key))): tuple(rest) for key, *rest in cursor.fetchall()}


def newest(conversation_id: str) -> Place:
    """Behind everything that is stored."""
    found = CeAudit.objects.filter(conversation_id=conversation_id)
    last = found.filter(turn_no__isnull=False).order_by("-turn_no", "-seq").values_list("turn_no", "seq").first()
    turn_no, seq = last or (0, 0)
    failed = _failures(conversation_id, Place(turn_no, 0))
    return Place(turn_no, END if failed else seq, _last_beside(conversation_id, turn_no))


def completed(conversation_id: str, place: Place) -> Place:
    """A place with what a plain `turnNo.seq` leaves open: what happened outside of turns before that event was seen."""
    if place.beside or not place.turn_no:
        return place
    before = Q(turn_no=place.turn_no - 1) | Q(turn_no=place.turn_no, seq__lte=place.seq)
    found = CeAudit.objects.filter(before, conversation_id=conversation_id).exclude(stage__in=_AFTER)
    last = found.aggregate(last=Max("audit_id"))["last"] or 0
    seen = _beside(conversation_id, place.turn_no).filter(audit_id__lt=last).aggregate(last=Max("audit_id"))
    return place._replace(beside=seen["last"] or 0)


def beyond(conversation_id: str, place: Place) -> Found:
    """What happened behind a place, in order: at most one page of it."""
    row = _row(conversation_id)
    if row is None:
        return Found(gone=True)
    if row.lapsed:
        # Nobody else may look at this conversation for long, and its viewers wait for the end of the turn.
        bury(conversation_id)
    # Before the events: a turn that failed meanwhile would be told to be over in front of what it left.
    failed = _failures(conversation_id, place)
    found = _of_turns(conversation_id, place)
    rows, more = found.rows, found.more
    beside = list(_beside(conversation_id, place.turn_no).filter(audit_id__gt=place.beside).order_by("audit_id")[:SIZE])
    if more:
        last = rows[-1]
        end = _stored_at(found.whole)[_at(last)]
        beside = [one for one in beside if one.audit_id < end]
        failed = [one for one in failed if one.turn_no < (last.turn_no or 0)]
    told = Found(_in_order(place, found, beside, failed), more)
    if not told.told and row.lifecycle in CLOSED and not row.may_go_on:
        told.ended = row.lifecycle
    return told


@dataclass(frozen=True)
class _Row:
    lifecycle: str
    may_go_on: bool
    lapsed: bool


def _row(conversation_id: str) -> _Row | None:
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT lifecycle, channel, {here.member("lifecycle_detail", "by")}, lease_expires_at < {here.now()}
                  FROM ce_conversation WHERE conversation_id = %s""",
            [here.uuid(conversation_id)],
        )
        found = cursor.fetchone()
    if found is None:
        return None
    lifecycle, channel, by, lapsed = found
    # A conversation of the plain turn API goes on with the next message, unless it was closed by a call (R39).
    return _Row(lifecycle, channel == "api" and by != BY_CALL, bool(lapsed))


def _of_turns(conversation_id: str, place: Place) -> EventPage:
    wanted = queries.EventFilter(without=_AFTER)
    return queries.page(uuid.UUID(conversation_id), wanted, (place.turn_no, place.seq), SIZE)


def _beside(conversation_id: str, turn_no: int) -> QuerySet[CeAudit]:
    """Events outside of turns, and what a model wrote after the answer of one of the last turns."""
    late = Q(turn_no__gte=max(turn_no - 1, 1), stage__in=_AFTER)
    return CeAudit.objects.filter(Q(turn_no__isnull=True) | late, conversation_id=conversation_id)


def _last_beside(conversation_id: str, turn_no: int) -> int:
    return _beside(conversation_id, turn_no).aggregate(last=Max("audit_id"))["last"] or 0


def _failures(conversation_id: str, place: Place) -> list[CeConversationHistory]:
    since = place.turn_no + 1 if place.seq >= END else place.turn_no
    found = CeConversationHistory.objects.filter(
        conversation_id=uuid.UUID(conversation_id), turn_no__gte=since, status__in=_FAILED
    )
    columns = ("turn_no", "turn_id", "status", "error_code", "error_message", "modified_at")
    return list(found.only(*columns).order_by("turn_no")[:SIZE])


def _in_order(
    place: Place, page: EventPage, beside: Sequence[CeAudit], failed: Sequence[CeConversationHistory]
) -> list[Told]:
    """Events of turns in their order, the others where they were stored; behind a turn that failed, that it did."""
    data, stored_at, told = _data(page, beside), _stored_at(page.whole), []
    left, over = list(reversed(beside)), list(reversed(failed))

    def step(behind: Place, name: str, text: str) -> Place:
        told.append(Told(behind, name, text))
        return behind

    for row in page.rows:
        while over and over[-1].turn_no < (row.turn_no or 0):
            place = step(*_failure(place, over.pop()))
        while left and left[-1].audit_id < stored_at[_at(row)]:
            place = step(place._replace(beside=left[-1].audit_id), left[-1].stage, data[_at(left.pop())])
        place = step(place._replace(turn_no=row.turn_no or 0, seq=row.seq), row.stage, data[_at(row)])
    for record in reversed(over):
        place = step(*_failure(place, record))
    for one in reversed(left):
        place = step(place._replace(beside=one.audit_id), one.stage, data[_at(one)])
    return told


def _failure(place: Place, record: CeConversationHistory) -> tuple[Place, str, str]:
    why = {"turnNo": record.turn_no, "status": record.status, "errorCode": record.error_code}
    text = failed_data(
        record.turn_no, str(record.turn_id), record.modified_at, {**why, "message": record.error_message}
    )
    return place._replace(turn_no=record.turn_no, seq=END), Stage.TURN_FAILED.value, text


def _at(row: CeAudit) -> At:
    return row.turn_no, row.seq


def _stored_at(events: Sequence[CeAudit]) -> Mapping[At, int]:
    """For each event of whole turns the key of its row; of one that is no row, that of the next which is."""
    found, key = dict[At, int](), 0
    for event in reversed(events):
        key = event.audit_id or key
        found[_at(event)] = key
    return found


def _data(page: EventPage, beside: Sequence[CeAudit]) -> Mapping[At, str]:
    """The envelopes. Folding starts with the first event of each turn."""
    wanted = set(map(_at, (*page.rows, *beside)))
    late = {row.turn_no for row in beside if row.turn_no is not None} - {row.turn_no for row in page.whole}
    turns = [*page.whole, *(queries.whole_turns(beside[0].conversation_id, late) if late else ())]
    outside = [row for row in beside if row.turn_no is None]
    events = [*expanded(turns), *(event for row in outside for event in expanded([row]))]
    return {_at(event.row): audit_data(event) for event in events if _at(event.row) in wanted}
