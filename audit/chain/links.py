"""What comes outside of turns, or to a turn that has its record already, is sealed link by link."""

import os
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection
from django.db.models import Max, Q

from audit.chain.pieces import microseconds
from audit.chain.stored import by_group, events_of
from audit.models import CeAudit, CeChainLink
from convengine.codec import dumps, loads
from convengine.domain.chain import GENESIS, SALT, Pieces, Seal, collected
from convengine.domain.turn import Turn
from convengine.sessions.models import CeConversation, CeConversationHistory

#: A turn of a conversation; nothing for what is outside of turns.
Place = tuple[uuid.UUID, uuid.UUID | None, int | None]


@dataclass(frozen=True)
class Told:
    """An event that is to be stored."""

    conversation_id: uuid.UUID
    stage: str
    payload: Mapping[str, Any]
    turn_id: uuid.UUID | None = None
    turn_no: int | None = None

    @property
    def place(self) -> Place:
        """Where it belongs."""
        return self.conversation_id, self.turn_id, self.turn_no


def has_record(turn_id: uuid.UUID | None) -> bool:
    """True for a turn that has its record, and with it its seal."""
    return turn_id is not None and CeConversationHistory.objects.filter(turn_id=turn_id).exists()


def add(told: Sequence[Told], now: datetime, config_version: int | None, *, sealed: bool = True) -> None:
    """Store events, each behind those of its place, and seal them. Needs an open transaction."""
    by_place = defaultdict[Place, list[Told]](list)
    for one in told:
        by_place[one.place].append(one)
    if sealed:
        _hold(place[0] for place in by_place)
    last = _last_events(by_place)
    rows, found = [], []
    for place, events in by_place.items():
        conversation_id, turn_id, turn_no = place
        made = [
            CeAudit(
                conversation_id=conversation_id,
                turn_id=turn_id,
                turn_no=turn_no,
                config_version=config_version,
                created_at=now,
                seq=seq,
                stage=one.stage,
                payload_json=loads(dumps(one.payload)),
            )
            for seq, one in enumerate(events, start=last.get((conversation_id, turn_no), 0) + 1)
        ]
        rows += made
        pieces = by_group(events_of((row.seq, row.stage, row.created_at, row.payload_json) for row in made))
        found.append(Addition(place, now, made[0].seq, made[-1].seq, pieces))
    CeAudit.objects.bulk_create(rows)
    if sealed:
        _seal(found)


def extend(turn: Turn, after_seq: int) -> None:
    """Seal what was just stored of a turn beyond `after_seq`. Needs an open transaction."""
    last_seq, pieces = collected(turn.batches)
    if any(pieces.values()):
        place = uuid.UUID(turn.request.conversation_id), uuid.UUID(turn.turn_id), turn.turn_no
        _hold([place[0]])
        _seal([Addition(place, turn.ports.clock.now(), after_seq + 1, last_seq, pieces)])


@dataclass(frozen=True)
class Addition:
    """What one link is over."""

    place: Place
    at: datetime
    first_seq: int
    last_seq: int
    pieces: Pieces


def frame(link: CeChainLink) -> bytes:
    """What stays of a link for ever, as bytes."""
    turn_id = str(link.turn_id) if link.turn_id else None
    at = microseconds(link.created_at)
    return orjson.dumps([str(link.conversation_id), link.number, turn_id, link.turn_no, link.first_seq, at])


def _seal(additions: Iterable[Addition]) -> None:
    """One link for each, behind the last of its conversation."""
    found = list(additions)
    last = _last_links({one.place[0] for one in found})
    made = []
    for one in found:
        conversation_id, turn_id, turn_no = one.place
        number, previous = last.get(conversation_id, (0, GENESIS))
        link = CeChainLink(
            conversation_id=conversation_id,
            number=number + 1,
            created_at=one.at,
            turn_id=turn_id,
            turn_no=turn_no,
            first_seq=one.first_seq,
        )
        seal = Seal.over(previous, one.last_seq, one.pieces, os.urandom(SALT))
        link.chain = seal.packed()
        last[conversation_id] = link.number, seal.hash(frame(link))
        made.append(link)
    CeChainLink.objects.bulk_create(made)


def _hold(conversations: Iterable[uuid.UUID]) -> None:
    """Nobody else adds to these conversations until the transaction ends. Turns that run do not wait for it."""
    if connection.vendor == "postgresql":
        keys = sorted(set(conversations))
        rows = CeConversation.objects.filter(pk__in=keys).order_by("pk").select_for_update(no_key=True)
        list(rows.values_list("pk", flat=True))


def _last_events(places: Iterable[Place]) -> dict[tuple[uuid.UUID, int | None], int]:
    """The number of the last event of each place that has any."""
    wanted = Q()
    for conversation_id, _, turn_no in places:
        # An index finds `IS NULL`, not `= NULL`.
        at = Q(turn_no__isnull=True) if turn_no is None else Q(turn_no=turn_no)
        wanted |= Q(conversation_id=conversation_id) & at
    found = CeAudit.objects.filter(wanted).values_list("conversation_id", "turn_no").annotate(last=Max("seq"))
    return {(key, turn_no): last for key, turn_no, last in found}


def _last_links(conversations: Iterable[uuid.UUID]) -> dict[uuid.UUID, tuple[int, bytes]]:
    """Number and hash of the last link of each conversation that has any."""
    numbers = CeChainLink.objects.filter(conversation_id__in=list(conversations)).values("conversation_id")
    wanted = Q(pk__in=[])
    for key, number in numbers.annotate(last=Max("number")).values_list("conversation_id", "last"):
        wanted |= Q(conversation_id=key, number=number)
    links = CeChainLink.objects.filter(wanted)
    return {link.conversation_id: (link.number, Seal.read(link.chain).hash(frame(link))) for link in links}
