"""A page of a conversation's timeline: turns as cards with warnings, and what became of their answers on a channel;
between them days, pauses, lifecycle changes and releases.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils.timesince import timesince
from django.utils.timezone import localtime

from audit import addresses
from audit.models import CeTurnIndex
from audit.narration.phrases import ROUTINE_MOVES, find_phrase
from audit.narration.wording import label_row
from audit.record.queries import list_moves, read_turns
from audit.record.turn_index import read_deciding_rows
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.stages import base_name
from convengine.engine.steps.actions.stages import GUARDRAIL_DENY, PENDING_ACTION_FAILED
from convengine.engine.steps.responses.stages import RESPONSE_MAPPING_NOT_FOUND
from convengine.engine.steps.state_graph.step import STATE_GRAPH_VIOLATION
from convengine.engine.steps.tools.stages import MCP_TOOL_ERROR, TOOL_ORCHESTRATION_ERROR
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.labels import lifecycle_label, state_label
from convengine.engine.turn.stage import Stage
from convengine.server.admin_site.record_columns import (
    answer_text,
    badge_class,
    current_redaction,
    find_row_name,
    name_intent,
)
from convengine.server.channels.models import CeChannelMessage
from convengine.server.interfaces.turn_reader import LifecycleMove
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.sessions.models import CeConversationHistory

#: The best first.
_STATES = ("read", "delivered", "sent", "waiting", "failed")
_STATES_BY_STATUS: Mapping[str, str] = {OutboxStatus.PENDING: "waiting", OutboxStatus.FAILED: "failed"}


@dataclass(frozen=True)
class Delivery:
    """The state of an answer, and the error of the last attempt to send it."""

    state: str
    error: str = ""


def read_deliveries(conversation_id: uuid.UUID, turn_ids: Collection[uuid.UUID]) -> dict[Any, Delivery]:
    """What became of the answer of each turn that sent one: the worst of its messages. One query."""
    rows = CeChannelMessage.objects.filter(conversation_id=str(conversation_id), turn_id__in=turn_ids)
    worst: dict[Any, Delivery] = {}
    for row in rows.order_by("pk").only("turn_id", "status", "receipt", "error"):
        state = _STATES_BY_STATUS.get(row.status) or row.receipt or "sent"
        before = worst.get(row.turn_id)
        if before is None or _STATES.index(state) > _STATES.index(before.state):
            worst[row.turn_id] = Delivery(state, current_redaction().text(row.error) if row.error else "")
    return worst


#: Stages with a warning, and its text.
WARNINGS: Mapping[Stage, str] = {
    STEP_ERROR: "A step failed",
    GUARDRAIL_DENY: "The guardrail denied a request",
    STATE_GRAPH_VIOLATION: "The state graph does not allow a move of this turn",
    RESPONSE_MAPPING_NOT_FOUND: "No answer fits",
    PENDING_ACTION_FAILED: "An action failed",
    TOOL_ORCHESTRATION_ERROR: "A tool failed",
    MCP_TOOL_ERROR: "A tool failed",
}
INCOMPLETE, UNCLOSED = "AUDIT_INCOMPLETE", "UNCLOSED_STEP"
#: Of a turn with this end only its record was stored.
NOT_STORED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_FRAME = (STEP_ENTER, STEP_EXIT, STEP_ERROR)
#: A turn with its timing came to its end.
_TIMING_STAGE = PIPELINE_TIMING


@dataclass(frozen=True)
class TurnWarning:
    code: str
    text: str


def count_stages(turns: Sequence[CeConversationHistory]) -> Mapping[int, Counter[str]]:
    """How often stages with a warning occur in some turns; two queries. Turns that were not stored are read whole."""
    by_turn = {turn.turn_id: turn.turn_no for turn in turns if turn.turn_id}
    rare = CeTurnIndex.objects.filter(
        turn_id__in=list(by_turn), kind=CeTurnIndex.STAGE, value__in=[str(stage) for stage in WARNINGS]
    )
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn_id, stage in rare.values_list("turn_id", "value"):
        counts[by_turn[turn_id] or 0][stage] += 1
    failed = [turn.turn_no for turn in turns if turn.status in NOT_STORED and turn.turn_no is not None]
    if failed:
        for event in read_turns(turns[0].conversation_id, failed):
            counts[event.turn_no or 0][base_name(event.stage)] += 1
    return counts


def list_warnings(record: CeConversationHistory, counts: Mapping[str, int]) -> Iterator[TurnWarning]:
    for stage, text in WARNINGS.items():
        if counts.get(stage):
            yield TurnWarning(str(stage), text)
    if record.audit_incomplete:
        yield TurnWarning(INCOMPLETE, "An event of the turn could not be stored")
    enter, *ends = (counts.get(stage, 0) for stage in _FRAME)
    closed = sum(ends)
    # The ends of steps of a normal turn may have been filtered out completely.
    if enter > closed and (closed or record.status in NOT_STORED) and not counts.get(_TIMING_STAGE):
        yield TurnWarning(UNCLOSED, "A step started but did not finish")


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
class NamedRow:
    name: str
    url: str


@dataclass(frozen=True)
class TurnCard:
    record: Any
    answer: str
    look: str
    stored: bool
    #: The intent and state before; blank if unknown.
    before: str
    after: str
    warnings: Sequence[TurnWarning]
    deciders: Sequence[NamedRow]
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
        NamedRow(
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
