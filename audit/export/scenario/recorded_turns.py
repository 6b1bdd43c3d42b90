"""The turns to save, with their recordings."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from audit.record.model_calls import read_calls
from audit.record.queries import read_turns
from audit.replay.replay import NotReplayable, restore_recording
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.stored_recording import StoredRecording

#: Maximum turns of one file.
MAX_TURNS = 500
_FRAME = (STEP_ENTER, STEP_EXIT)


class NotExportable(ValueError):
    """These turns cannot be saved; the message says which, why, and the remedy."""


@dataclass(frozen=True)
class RecordedTurn:
    """One turn."""

    record: CeConversationHistory
    recorded: StoredRecording
    #: Stages in order, without starts and ends of steps.
    stages: Sequence[str]
    #: Model calls after the turn, which no recording has: purpose, text, error.
    late_answers: Sequence[tuple[str, str, str | None]]

    @property
    def turn_no(self) -> int:
        return int(self.record.turn_no)


def select_turns(
    conversation: CeConversation, first: int | None, last: int | None
) -> "QuerySet[CeConversationHistory]":
    """The turns from `first` to `last`, inclusive, in order; all of them without a range."""
    turns = CeConversationHistory.objects.filter(conversation=conversation).order_by("turn_no")
    if first is not None:
        turns = turns.filter(turn_no__gte=first)
    return turns if last is None else turns.filter(turn_no__lte=last)


def _describe_missing_turns(conversation: CeConversation, first: int | None, last: int | None) -> str:
    """Why a range of turns is empty, and which turns could be chosen."""
    numbers = list(select_turns(conversation, None, None).values_list("turn_no", flat=True))
    if not numbers:
        return "The conversation has no stored turns."
    ends = [f"from turn {first}" if first is not None else "", f"to turn {last}" if last is not None else ""]
    remedy = f"Choose turns from {numbers[0]} to {numbers[-1]}." if len(numbers) > 1 else f"Choose turn {numbers[0]}."
    return f"The conversation has no turns {' '.join(filter(None, ends))}. {remedy}"


def read_recorded_turns(conversation: CeConversation, first: int | None, last: int | None) -> list[RecordedTurn]:
    """The turns of a range with their recordings. An end that is None does not limit the range.

    Raises NotExportable for an empty range, more than MAX_TURNS turns, or a turn that cannot be played again.
    """
    turns = select_turns(conversation, first, last)
    records = read_rows(turns.defer(None).defer("events", "seal")[: MAX_TURNS + 1])
    if not records:
        raise NotExportable(_describe_missing_turns(conversation, first, last))
    if len(records) > MAX_TURNS:
        raise NotExportable(f"More than {MAX_TURNS} turns; save a range of them.")
    numbers = [record.turn_no for record in records]
    stages, late_answers = _read_stages(conversation.pk, numbers), _read_late_answers(conversation.pk, numbers)
    return [
        RecordedTurn(
            record, _restore_recording(record), stages.get(record.turn_no, ()), late_answers.get(record.turn_no, ())
        )
        for record in records
    ]


def read_time_before(turn: RecordedTurn) -> datetime | None:
    """The time of the stored turn before. Returns None for the first one."""
    earlier = CeConversationHistory.objects.filter(
        conversation_id=turn.record.conversation_id, turn_no__lt=turn.turn_no
    )
    time: datetime | None = earlier.order_by("-turn_no").values_list("created_at", flat=True).first()
    return time


def _restore_recording(record: CeConversationHistory) -> StoredRecording:
    """The recording of a turn. Raises NotExportable if it cannot be replayed, or began in another session."""
    try:
        recording = restore_recording(record)
    except NotReplayable as refused:
        text = f"Turn {record.turn_no} cannot be played again: {refused} Save a range without it."
        raise NotExportable(text) from refused
    if uuid.UUID(recording.request.conversation_id) != record.conversation_id:
        raise NotExportable(
            f"Turn {record.turn_no} began in another session, {recording.request.conversation_id}; save that one, "
            f"and this one from turn {record.turn_no + 1} on."
        )
    return recording


def _read_stages(conversation_id: uuid.UUID, numbers: Sequence[int]) -> dict[int, list[str]]:
    """The stages of each turn in order, without starts and ends of steps, and without those after the answer."""
    by_turn: dict[int, list[str]] = {}
    for event in read_turns(conversation_id, numbers):
        if event.stage not in (*_FRAME, *AFTER_THE_ANSWER):
            by_turn.setdefault(event.turn_no or 0, []).append(event.stage)
    return by_turn


def _read_late_answers(
    conversation_id: uuid.UUID, numbers: Sequence[int]
) -> dict[int, list[tuple[str, str, str | None]]]:
    """The model calls for memory and summaries by turn, as `RecordedTurn.late_answers` has them."""
    return {
        turn_no: [
            (call.purpose, call.response_text or "", None if call.success else call.error_message or "failed")
            for call in calls
            if call.purpose in ("MEMORY", "SUMMARY")
        ]
        for turn_no, calls in read_calls(conversation_id, numbers).items()
    }
