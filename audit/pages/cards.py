"""A page of a conversation's timeline: turns as cards, and between them days, silences, moves and new releases."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils.timesince import timesince
from django.utils.timezone import localtime

from audit.account.phrases import phrase
from audit.account.wording import row_name
from audit.pages import addresses
from audit.pages.reading import LARGE
from audit.pages.warned import Warned, stage_counts, warnings
from audit.session_trail import Move, deciders, moves
from convengine.domain.enums import Lifecycle, TurnStatus
from convengine.record_columns import look_of, spoken
from convengine.sessions.models import CeConversationHistory

#: How many turns one look shows.
SIZE = 40
#: Shorter pauses are no silence.
SILENCE = timedelta(minutes=10)
#: Rows that decided a turn, of which so many are named.
_NAMED = 4
#: Moves that come with nearly every turn: a question is asked, and answered.
_TO_AND_FRO = frozenset({"question", "response", "continuation"})
_STORED = (TurnStatus.OK.value, TurnStatus.BLOCKED.value)


class Look(NamedTuple):
    """Some turns of a conversation, oldest first, and the numbers from which older and newer ones are reached."""

    turns: Sequence[Any]
    #: The turn in front of these, for where the first of them stood; null when there is none.
    previous: Any
    older: int | None
    newer: int | None


@dataclass(frozen=True)
class Decider:
    """A row that decided a turn, by name."""

    name: str
    url: str


@dataclass(frozen=True)
class Card:
    """One turn."""

    record: Any
    answer: str
    look: str
    stored: bool
    #: Where the conversation stood before; blank where nobody knows.
    before: str
    after: str
    warnings: Sequence[Warned]
    deciders: Sequence[Decider]
    more: int
    url: str
    #: Where the turn left the session, where that is worth a word.
    waits: str = ""
    kind: str = "card"


class Label(NamedTuple):
    """Where the session went, and why."""

    name: str
    why: str
    look: str


@dataclass(frozen=True)
class Between:
    """Something between two turns: a `day`, a `silence`, a `move` or a `release`."""

    kind: str
    text: str
    at: datetime | None = None
    url: str = ""
    labels: Sequence[Label] = ()


def newest(conversation_id: uuid.UUID, before: int | None = None) -> Look:
    """The newest turns, or those in front of a number; one query."""
    found = _turns(conversation_id).order_by("-turn_no")
    if before is not None:
        found = found.filter(turn_no__lt=before)
    rows = list(reversed(found[: SIZE + 1]))
    previous, shown = (rows[0], rows[1:]) if len(rows) > SIZE else (None, rows)
    newer = shown[-1].turn_no if before is not None and shown else None
    return Look(shown, previous, shown[0].turn_no if previous else None, newer)


def around(conversation_id: uuid.UUID, turn_no: int, in_front: int = SIZE // 2) -> Look:
    """The turns about a number, so many of them in front of it; two queries."""
    turns = _turns(conversation_id)
    front = list(reversed(turns.filter(turn_no__lt=turn_no).order_by("-turn_no")[: in_front + 1]))
    behind = list(turns.filter(turn_no__gte=turn_no).order_by("turn_no")[: SIZE - in_front + 1])
    previous, front = (front[0], front[1:]) if len(front) > in_front else (None, front)
    more = len(behind) > SIZE - in_front
    shown = [*front, *behind[: SIZE - in_front]]
    return Look(shown, previous, shown[0].turn_no if previous and shown else None, shown[-1].turn_no if more else None)


def turn_at(conversation_id: uuid.UUID, at: datetime) -> int | None:
    """The number of the first turn at or behind a moment; null when all were before; one query."""
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, created_at__gte=at)
    first: int | None = found.order_by("created_at").values_list("turn_no", flat=True).first()
    return first


def items(conversation_id: uuid.UUID, look: Look) -> Iterator[Card | Between]:
    """Everything of one look in its order; four queries however many turns."""
    numbers = [turn.turn_no for turn in look.turns]
    counts = stage_counts(conversation_id, numbers)
    rows = deciders([turn.turn_id for turn in look.turns])
    last = numbers[-1] if look.newer and numbers else 2**31 - 1
    moved = defaultdict(list)
    for move in moves(conversation_id, numbers[0] if look.older and numbers else 0, last):
        moved[move.turn_no].append(move)
    before = look.previous
    stands = _stands(before)
    for turn in look.turns:
        yield from _since(before, turn)
        moves_here = moved.get(turn.turn_no, [])
        card = _card(turn, stands, counts.get(turn.turn_no, {}), rows.get(turn.turn_id, []), moves_here)
        yield card
        yield from _moves(moves_here)
        before, stands = turn, card.after if card.stored else stands
    if not look.turns:
        yield from _moves(moved.get(0, ()))


def _turns(conversation_id: uuid.UUID) -> Any:
    return CeConversationHistory.objects.filter(conversation_id=conversation_id).defer(*LARGE, "facts", "request_meta")


def _stands(turn: Any) -> str:
    return f"{turn.intent_code} / {turn.state_code}" if turn and turn.status in _STORED else ""


def _since(before: Any, turn: Any) -> Iterator[Between]:
    """What lies between two turns."""
    if before is None or localtime(before.created_at).date() != localtime(turn.created_at).date():
        yield Between("day", "", turn.created_at)
    if before is None:
        return
    if turn.created_at - before.created_at >= SILENCE:
        yield Between("silence", f"{timesince(before.created_at, turn.created_at)} of silence")
    if before.config_version != turn.config_version:
        text = f"The configuration changed: release {before.config_version} to {turn.config_version}"
        url = addresses.between_url(turn.conversation_id, turn.turn_no, before.turn_no)
        yield Between("release", text, url=url)


def _card(turn: Any, stands: str, counts: Mapping[str, int], rows: Sequence[Any], found: Sequence[Move]) -> Card:
    named = [
        Decider(row_name(row.table, row.pk), addresses.row_url(turn.conversation_id, turn.turn_no, row.table, row.pk))
        for row in rows[:_NAMED]
    ]
    return Card(
        turn,
        spoken(turn.assistant_output),
        look_of(turn.status),
        turn.status in _STORED,
        stands,
        f"{turn.intent_code} / {turn.state_code}",
        list(warnings(turn, counts)),
        named,
        max(len(rows) - _NAMED, 0),
        addresses.turn_url(turn.conversation_id, turn.turn_no),
        Lifecycle.AWAITING_USER.label.lower() if found and found[-1].end == Lifecycle.AWAITING_USER else "",
    )


def _moves(found: Sequence[Move]) -> Iterator[Between]:
    """The moves behind a turn that change its session for good, in one line; the to and fro of questions is none."""
    telling = [one for one in found if one.reason not in _TO_AND_FRO]
    if telling:
        labels = [Label(_lifecycle(one.end), phrase("lifecycle", one.reason), look_of(one.end)) for one in telling]
        yield Between("move", "", telling[-1].at, labels=labels)


def _lifecycle(word: str) -> str:
    found = Lifecycle.read(word)
    return found.label if found else word
