"""The turns to save, with their recordings, and the recorded answers from outside: models, tools, tasks, containers."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from audit.record.model_calls import read_calls
from audit.record.queries import read_turns
from audit.replay.replay import NotReplayable, restore_recording
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json
from convengine.play.seen_turn import PortCall
from convengine.play.stub_documents import ADDRESS, export_call, export_failure
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


Entry = dict[str, Json]


def list_calls(recorded: StoredRecording, port: str) -> list[PortCall]:
    return [PortCall(*entry) for entry in recorded.tape if entry[0] == port]


def has_model(turns: Iterable[RecordedTurn]) -> bool:
    """False when one of the turns found that there is no model."""
    return all(answer for turn in turns for _, _, answer in list_calls(turn.recorded, "model.configured"))


def export_model_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of models, each for one call, in order."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [export_call(call) for call in list_calls(turn.recorded, "model")]
        for purpose, text, error in turn.late_answers:
            answer = {"text": text, "error_code": error and "LLM_CALL_FAILED", "error_message": error}
            entries.append(export_call(PortCall("model", {"purpose": purpose}, answer)))
    return [{**entry, "times": 1} for entry in entries]


def export_tool_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    entries: list[Entry] = []
    for turn in turns:
        entries += [{**export_call(call), "times": 1} for call in list_calls(turn.recorded, "tool")]
        for call in list_calls(turn.recorded, "server.tools"):
            # A world's server offers the tools of these answers.
            codes = [f"mcp.{call.request['server']}.{tool['name']}" for tool in call.answer["tools"]]
            entries += [{"tool_code": code, "result": None} for code in codes]
    return [
        *(entry for entry in entries if "times" in entry),
        *_drop_duplicates([entry for entry in entries if "times" not in entry]),
    ]


def export_task_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of tasks, as entries of a scenario. Known methods that were not called return null.

    Calls of unknown tasks or methods have no entry.
    """
    entries: list[Entry] = []
    known: list[Entry] = []
    for turn in turns:
        calls = list_calls(turn.recorded, "task")
        entries += [export_call(call) for call in calls if call.answer["error_type"] != "NOT_REGISTERED"]
        for call in list_calls(turn.recorded, "task.methods"):
            known += [{"bean": call.request, "method": method, "returns": None} for method in call.answer or ()]
    called = {(entry["bean"], entry["method"]) for entry in entries}
    return _merge_equal_answers(entries, ("bean", "method")) + _drop_duplicates(
        [entry for entry in known if (entry["bean"], entry["method"]) not in called]
    )


def export_container_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of container providers, as entries of a scenario; calls without a provider have no entry."""
    entries: list[Entry] = []
    for turn in turns:
        calls = list_calls(turn.recorded, "container")
        entries += [export_call(call) for call in calls if call.answer["error_type"] != "NO_PROVIDER"]
    return _merge_equal_answers(entries, ADDRESS)


def export_transformers(turn: RecordedTurn) -> list[Entry]:
    """What the transformers of answers gave, in order; empty if they changed no answer of the turn."""
    entries: list[Entry] = []
    changed = False
    for _, stage, answer in list_calls(turn.recorded, "transform"):
        if answer["transformer"] is None:
            continue
        outcome = export_failure(answer["errorType"], answer["errorMessage"])
        if answer["payload"] is not None:
            outcome = {"result": answer["payload"]["value"]}
        entries.append({"stage": stage, "name": answer["transformer"], **outcome})
        changed = changed or bool(outcome)
    return entries if changed else []


def _merge_equal_answers(entries: list[Entry], key: tuple[str, ...]) -> list[Entry]:
    """The answers by the values of `key`: once if all are equal, else each for one call, in order."""
    merged: list[Entry] = []
    for name in dict.fromkeys(tuple(entry[part] for part in key) for entry in entries):
        same = [entry for entry in entries if tuple(entry[part] for part in key) == name]
        if all(entry == same[0] for entry in same):
            merged.append(same[0])
        else:
            merged += [{**entry, "times": 1} for entry in same]
    return merged


def _drop_duplicates(entries: list[Entry]) -> list[Entry]:
    return list({dumps(entry): entry for entry in entries}.values())
