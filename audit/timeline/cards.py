"""A page of a conversation's timeline: turns as cards, and between them days, pauses, lifecycle changes and
releases.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils.timesince import timesince
from django.utils.timezone import localtime

from audit.narration.phrases import ROUTINE_MOVES, find_phrase
from audit.narration.wording import label_row
from audit.record.queries import list_moves
from audit.record.turn_index import read_deciding_rows
from audit.timeline import addresses
from audit.timeline.deliveries import Delivery, read_deliveries
from audit.timeline.warnings import NOT_STORED, TurnWarning, count_stages, list_warnings
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.labels import lifecycle_label, state_label
from convengine.server.admin_site.record_columns import answer_text, badge_class, find_row_name, name_intent
from convengine.server.interfaces.turn_reader import LifecycleMove
from convengine.server.sessions.models import CeConversationHistory

#: Turns per page.
WINDOW_SIZE = 16
#: Shorter pauses are not shown.
SILENCE = timedelta(minutes=10)
#: Maximum named deciding rows, and the longest name.
_NAMED = 4
_LONGEST_NAME = 36


class TurnWindow(NamedTuple):
    """Some turns of a conversation, oldest first, and the numbers that lead to older and newer ones."""

    turns: Sequence[Any]
    #: The turn before these, for the initial state of the first; None when there is none.
    previous: Any
    older: int | None
    newer: int | None


@dataclass(frozen=True)
class DecidingRow:
    """A deciding row by name."""

    name: str
    url: str


@dataclass(frozen=True)
class TurnCard:
    """One turn."""

    record: Any
    answer: str
    look: str
    stored: bool
    #: The intent and state before; blank if unknown.
    before: str
    after: str
    warnings: Sequence[TurnWarning]
    deciders: Sequence[DecidingRow]
    more: int
    url: str
    #: The lifecycle after the turn, if it matters.
    waits: str = ""
    #: What became of its answer on a channel; None for a conversation without one.
    delivery: Delivery | None = None
    kind: str = "card"


class MoveLabel(NamedTuple):
    """The new lifecycle, and the reason."""

    name: str
    why: str
    look: str


@dataclass(frozen=True)
class Divider:
    """An item between two turns: a `day`, a `silence`, a `move` or a `release`."""

    kind: str
    text: str
    at: datetime | None = None
    url: str = ""
    labels: Sequence[MoveLabel] = ()


def read_window(conversation_id: uuid.UUID, at: int | None = None, in_front: int = WINDOW_SIZE) -> TurnWindow:
    """The turns around a number, with `in_front` turns before it; without a number the newest.

    One query, or two for turns on both sides.
    """
    turns: Any = CeConversationHistory.objects.filter(conversation_id=conversation_id).defer("facts")
    behind_size = WINDOW_SIZE - in_front
    before = turns if at is None else turns.filter(turn_no__lt=at)
    front = list(reversed(before.order_by("-turn_no")[: in_front + 1]))
    behind = list(turns.filter(turn_no__gte=at).order_by("turn_no")[: behind_size + 1]) if behind_size else []
    previous, front = (front[0], front[1:]) if len(front) > in_front else (None, front)
    shown = [*front, *behind[:behind_size]]
    more = len(behind) > behind_size if behind_size else at is not None
    return TurnWindow(
        shown, previous, shown[0].turn_no if previous and shown else None, shown[-1].turn_no if more and shown else None
    )


def find_turn_at(conversation_id: uuid.UUID, at: datetime) -> int | None:
    """The number of the first turn at or after a time. Returns None when all were before; one query."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, created_at__gte=at)
    first: int | None = turns.order_by("created_at").values_list("turn_no", flat=True).first()
    return first


def build_items(conversation_id: uuid.UUID, window: TurnWindow) -> Iterator[TurnCard | Divider]:
    """All items of one page in order; five queries."""
    numbers = [turn.turn_no for turn in window.turns]
    counts = count_stages(window.turns)
    turn_ids = [turn.turn_id for turn in window.turns]
    rows, deliveries = read_deciding_rows(turn_ids), read_deliveries(conversation_id, turn_ids)
    last = numbers[-1] if window.newer and numbers else 2**31 - 1
    moved = defaultdict(list)
    for move in list_moves(conversation_id, numbers[0] if window.older and numbers else 0, last):
        moved[move.turn_no].append(move)
    before = window.previous
    stands = _format_position(before) if before and before.status not in NOT_STORED else ""
    for turn in window.turns:
        yield from _build_dividers(before, turn)
        moves_here = moved.get(turn.turn_no, [])
        card = _build_card(turn, stands, counts.get(turn.turn_no, {}), rows.get(turn.turn_id, []), moves_here)
        yield (card := replace(card, delivery=deliveries.get(turn.turn_id)))
        yield from _build_move_divider(moves_here)
        before, stands = turn, card.after if card.stored else stands
    if not window.turns:
        yield from _build_move_divider(moved.get(0, ()))


def _format_position(turn: Any) -> str:
    return f"{name_intent(turn.intent_code)} / {state_label(turn.state_code)}"


def _build_dividers(before: Any, turn: Any) -> Iterator[Divider]:
    """The items between two turns."""
    if before is None or localtime(before.created_at).date() != localtime(turn.created_at).date():
        yield Divider("day", "", turn.created_at)
    if before is None:
        return
    if turn.created_at - before.created_at >= SILENCE:
        yield Divider("silence", f"{timesince(before.created_at, turn.created_at)} without messages")
    if before.config_version != turn.config_version:
        text = f"The configuration changed from release {before.config_version} to {turn.config_version}"
        url = addresses.between_url(turn.conversation_id, turn.turn_no, before.turn_no)
        yield Divider("release", text, url=url)


def _build_card(
    turn: Any, stands: str, counts: Mapping[str, int], rows: Sequence[Any], moves: Sequence[LifecycleMove]
) -> TurnCard:
    named = [
        DecidingRow(
            label_row(row.table, row.pk, shorten_line(find_row_name(row.table, row.pk), _LONGEST_NAME)),
            addresses.row_url(turn.conversation_id, turn.turn_no, row.table, row.pk),
        )
        for row in rows[:_NAMED]
    ]
    return TurnCard(
        turn,
        answer_text(turn.assistant_output),
        badge_class(turn.status),
        turn.status not in NOT_STORED,
        stands,
        _format_position(turn),
        list(list_warnings(turn, counts)),
        named,
        max(len(rows) - _NAMED, 0),
        addresses.turn_url(turn.conversation_id, turn.turn_no),
        Lifecycle.AWAITING_USER.label.lower() if moves and moves[-1].end == Lifecycle.AWAITING_USER else "",
    )


def _build_move_divider(moves: Sequence[LifecycleMove]) -> Iterator[Divider]:
    """The lasting lifecycle changes after a turn in one line."""
    telling = [move for move in moves if move.reason not in ROUTINE_MOVES]
    if telling:
        labels = [
            MoveLabel(lifecycle_label(move.end), find_phrase("lifecycle", move.reason), badge_class(move.end))
            for move in telling
        ]
        yield Divider("move", "", telling[-1].at, labels=labels)
