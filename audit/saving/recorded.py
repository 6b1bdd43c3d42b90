"""The turns that are saved, with their recordings."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.models import CeAudit, CeLlmCallLog
from convengine.domain.stages import AFTER_THE_ANSWER, Stage
from convengine.sessions.models import CeConversation, CeConversationHistory
from convengine.sessions.recording import Recorded, restore

Json = Any
#: Turns of one file.
MOST = 500
_FRAME = (Stage.STEP_ENTER.value, Stage.STEP_EXIT.value)


class NotSavable(ValueError):
    """These turns cannot be played again from a file; the message says which, why, and what can be done."""


@dataclass(frozen=True)
class Taken:
    """One turn."""

    record: CeConversationHistory
    recorded: Recorded
    #: Stages of the trail in their order, without the frame of the steps.
    stages: Sequence[str]
    #: What a model said of the turn when it was over, which no recording has: purpose, text, error.
    afterwards: Sequence[tuple[str, str, str | None]]

    @property
    def turn_no(self) -> int:
        """Its number in the conversation."""
        return int(self.record.turn_no)


def taken(conversation: CeConversation, first: int | None, last: int | None) -> list[Taken]:
    """The turns from `first` to `last`, both included; all of them without. Raises NotSavable."""
    found = CeConversationHistory.objects.filter(conversation=conversation).order_by("turn_no")
    if first is not None:
        found = found.filter(turn_no__gte=first)
    if last is not None:
        found = found.filter(turn_no__lte=last)
    records = list(found.defer("trace_graph")[: MOST + 1])
    if not records:
        raise NotSavable("There is no such turn; a range is written 3-7.")
    if len(records) > MOST:
        raise NotSavable(f"More than {MOST} turns; save a range of them.")
    numbers = [record.turn_no for record in records]
    stages, said = _stages(conversation.pk, numbers), _afterwards(conversation.pk, numbers)
    return [
        Taken(record, _recorded(record), stages.get(record.turn_no, ()), said.get(record.turn_no, ()))
        for record in records
    ]


def _recorded(record: CeConversationHistory) -> Recorded:
    if not record.recording or not record.replayable:
        why = record.replay_note or "it has no recording."
        raise NotSavable(f"Turn {record.turn_no} cannot be played again: {why} Save a range without it.")
    found = restore(record.recording)
    if uuid.UUID(found.request.conversation_id) != record.conversation_id:
        raise NotSavable(
            f"Turn {record.turn_no} began in another session, {found.request.conversation_id}; save that one, and this "
            f"one from turn {record.turn_no + 1} on."
        )
    return found


def _stages(conversation_id: uuid.UUID, numbers: Sequence[int]) -> dict[int, list[str]]:
    rows = CeAudit.objects.filter(conversation_id=conversation_id, turn_no__gte=numbers[0], turn_no__lte=numbers[-1])
    rows = rows.exclude(stage__in=(*_FRAME, *AFTER_THE_ANSWER)).order_by("turn_no", "seq")
    found: dict[int, list[str]] = {}
    for turn_no, stage in rows.values_list("turn_no", "stage"):
        found.setdefault(turn_no, []).append(stage)
    return found


def _afterwards(conversation_id: uuid.UUID, numbers: Sequence[int]) -> dict[int, list[tuple[str, str, str | None]]]:
    rows = CeLlmCallLog.objects.filter(
        conversation_id=conversation_id, turn_no__gte=numbers[0], turn_no__lte=numbers[-1]
    ).filter(purpose__in=("MEMORY", "SUMMARY"))
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    columns = ("turn_no", "purpose", "response_text", "success", "error_message")
    for turn_no, purpose, text, success, error in rows.order_by("llm_call_id").values_list(*columns):
        found.setdefault(turn_no, []).append((purpose, text or "", None if success else error or "failed"))
    return found
