"""Seal events outside of turns, or after a turn's record, link by link."""

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

from audit.models import CeAudit, CeChainLink
from audit.record.seal.pieces import microseconds
from audit.record.seal.stored_pieces import event_pieces, group_pieces
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.seal import GENESIS, SALT, Pieces, Seal, collect_pieces
from convengine.engine.turn.turn import Turn
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: A turn of a conversation; null outside of turns.
EventOwner = tuple[uuid.UUID, uuid.UUID | None, int | None]


@dataclass(frozen=True)
class NewEvent:
    """An event to store."""

    conversation_id: uuid.UUID
    stage: str
    payload: Mapping[str, Any]
    turn_id: uuid.UUID | None = None
    turn_no: int | None = None

    @property
    def owner(self) -> EventOwner:
        """Its turn."""
        return self.conversation_id, self.turn_id, self.turn_no


def has_record(turn_id: uuid.UUID | None) -> bool:
    """True for a turn that has its record, and with it its seal."""
    return turn_id is not None and CeConversationHistory.objects.filter(turn_id=turn_id).exists()


def add_events(
    new_events: Sequence[NewEvent], now: datetime, config_version: int | None, *, sealed: bool = True
) -> None:
    """Store events, each after those of its turn, and seal them. Needs an open transaction."""
    by_place = defaultdict[EventOwner, list[NewEvent]](list)
    for event in new_events:
        by_place[event.owner].append(event)
    if sealed:
        _lock_conversations(owner[0] for owner in by_place)
    last = _last_events(by_place)
    rows, additions = [], []
    for owner, events in by_place.items():
        conversation_id, turn_id, turn_no = owner
        made = [
            CeAudit(
                conversation_id=conversation_id,
                turn_id=turn_id,
                turn_no=turn_no,
                config_version=config_version,
                created_at=now,
                seq=seq,
                stage=event.stage,
                payload_json=loads(dumps(event.payload)),
            )
            for seq, event in enumerate(events, start=last.get((conversation_id, turn_no), 0) + 1)
        ]
        rows += made
        pieces = group_pieces(event_pieces((row.seq, row.stage, row.created_at, row.payload_json) for row in made))
        additions.append(Addition(owner, now, made[0].seq, made[-1].seq, pieces))
    CeAudit.objects.bulk_create(rows)
    if sealed:
        _add_links(additions)


def seal_late_events(turn: Turn, after_seq: int) -> None:
    """Seal the stored events of a turn after `after_seq`. Needs an open transaction."""
    last_seq, pieces = collect_pieces(turn.batches)
    if any(pieces.values()):
        owner = uuid.UUID(turn.request.conversation_id), uuid.UUID(turn.turn_id), turn.turn_no
        _lock_conversations([owner[0]])
        _add_links([Addition(owner, turn.ports.clock.now(), after_seq + 1, last_seq, pieces)])


@dataclass(frozen=True)
class Addition:
    """What one link covers."""

    owner: EventOwner
    at: datetime
    first_seq: int
    last_seq: int
    pieces: Pieces


def link_frame(link: CeChainLink) -> bytes:
    """The permanent part of a link, as bytes."""
    turn_id = str(link.turn_id) if link.turn_id else None
    at = microseconds(link.created_at)
    return orjson.dumps([str(link.conversation_id), link.number, turn_id, link.turn_no, link.first_seq, at])


def _add_links(additions: Iterable[Addition]) -> None:
    """One link for each, after the last of its conversation."""
    batch = list(additions)
    last = _last_links({addition.owner[0] for addition in batch})
    made = []
    for addition in batch:
        conversation_id, turn_id, turn_no = addition.owner
        number, previous = last.get(conversation_id, (0, GENESIS))
        link = CeChainLink(
            conversation_id=conversation_id,
            number=number + 1,
            created_at=addition.at,
            turn_id=turn_id,
            turn_no=turn_no,
            first_seq=addition.first_seq,
        )
        seal = Seal.create(previous, addition.last_seq, addition.pieces, os.urandom(SALT))
        link.chain = seal.to_bytes()
        last[conversation_id] = link.number, seal.hash(link_frame(link))
        made.append(link)
    CeChainLink.objects.bulk_create(made)


def _lock_conversations(conversations: Iterable[uuid.UUID]) -> None:
    """Lock these conversations for additions until the transaction ends. Running turns do not wait for it."""
    if connection.vendor == "postgresql":
        keys = sorted(set(conversations))
        rows = CeConversation.objects.filter(pk__in=keys).order_by("pk").select_for_update(no_key=True)
        list(rows.values_list("pk", flat=True))


def _last_events(places: Iterable[EventOwner]) -> dict[tuple[uuid.UUID, int | None], int]:
    """The number of the last event of each turn that has any."""
    wanted = Q()
    for conversation_id, _, turn_no in places:
        # An index finds `IS NULL`, not `= NULL`.
        at = Q(turn_no__isnull=True) if turn_no is None else Q(turn_no=turn_no)
        wanted |= Q(conversation_id=conversation_id) & at
    events = CeAudit.objects.filter(wanted).values_list("conversation_id", "turn_no").annotate(last=Max("seq"))
    return {(key, turn_no): last for key, turn_no, last in events}


def _last_links(conversations: Iterable[uuid.UUID]) -> dict[uuid.UUID, tuple[int, bytes]]:
    """Number and hash of the last link of each conversation that has any."""
    numbers = CeChainLink.objects.filter(conversation_id__in=list(conversations)).values("conversation_id")
    wanted = Q(pk__in=[])
    for key, number in numbers.annotate(last=Max("number")).values_list("conversation_id", "last"):
        wanted |= Q(conversation_id=key, number=number)
    links = CeChainLink.objects.filter(wanted)
    return {link.conversation_id: (link.number, Seal.read(link.chain).hash(link_frame(link))) for link in links}
