"""The turns to save, with their recordings."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.models import CeAudit, CeLlmCallLog
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.turn_record import StoredRecording, read_recording

Json = Any
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
        """The number of the turn in its conversation."""
        return int(self.record.turn_no)


def read_recorded_turns(conversation: CeConversation, first: int | None, last: int | None) -> list[RecordedTurn]:
    """The turns from `first` to `last`, inclusive; all of them without a range. Raises NotExportable."""
    turns = CeConversationHistory.objects.filter(conversation=conversation).order_by("turn_no")
    if first is not None:
        turns = turns.filter(turn_no__gte=first)
    if last is not None:
        turns = turns.filter(turn_no__lte=last)
    records = list(turns.defer("trace_graph")[: MAX_TURNS + 1])
    if not records:
        raise NotExportable("No turn of the conversation has such a number.")
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


def _restore_recording(record: CeConversationHistory) -> StoredRecording:
    if not record.recording or not record.replayable:
        why = record.replay_note or "it has no recording."
        raise NotExportable(f"Turn {record.turn_no} cannot be played again: {why} Save a range without it.")
    recording = read_recording(record.recording)
    if uuid.UUID(recording.request.conversation_id) != record.conversation_id:
        raise NotExportable(
            f"Turn {record.turn_no} began in another session, {recording.request.conversation_id}; save that one, "
            f"and this one from turn {record.turn_no + 1} on."
        )
    return recording


def _read_stages(conversation_id: uuid.UUID, numbers: Sequence[int]) -> dict[int, list[str]]:
    rows = CeAudit.objects.filter(conversation_id=conversation_id, turn_no__gte=numbers[0], turn_no__lte=numbers[-1])
    rows = rows.exclude(stage__in=(*_FRAME, *AFTER_THE_ANSWER)).order_by("turn_no", "seq")
    by_turn: dict[int, list[str]] = {}
    for turn_no, stage in rows.values_list("turn_no", "stage"):
        by_turn.setdefault(turn_no, []).append(stage)
    return by_turn


def _read_late_answers(
    conversation_id: uuid.UUID, numbers: Sequence[int]
) -> dict[int, list[tuple[str, str, str | None]]]:
    rows = CeLlmCallLog.objects.filter(
        conversation_id=conversation_id, turn_no__gte=numbers[0], turn_no__lte=numbers[-1]
    ).filter(purpose__in=("MEMORY", "SUMMARY"))
    by_turn: dict[int, list[tuple[str, str, str | None]]] = {}
    columns = ("turn_no", "purpose", "response_text", "success", "error_message")
    for turn_no, purpose, text, success, error in rows.order_by("llm_call_id").values_list(*columns):
        by_turn.setdefault(turn_no, []).append((purpose, text or "", None if success else error or "failed"))
    return by_turn
