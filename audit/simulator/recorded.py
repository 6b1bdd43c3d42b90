"""The answers that calls got in the newest stored turns, offered as stubs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from convengine.play.seen_turn import PortCall
from convengine.play.stub_documents import CallName, export_answers, read_stub_answer
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import read_recording

#: How many turns are read, and how many different answers are offered.
_READ, _OFFERED = 100, 3


@dataclass(frozen=True)
class RecordedAnswer:
    """A recorded answer, and its turn."""

    text: str
    is_failure: bool
    conversation_id: UUID
    turn_no: int
    at: datetime


def find_recorded_answers(call: CallName) -> list[RecordedAnswer]:
    """The newest different answers to calls of these names. One query."""
    answers: dict[tuple[str, bool], RecordedAnswer] = {}
    for answer in _read_answers(call):
        answers.setdefault((answer.text, answer.is_failure), answer)
        if len(answers) == _OFFERED:
            break
    return list(answers.values())


def _read_answers(call: CallName) -> Iterator[RecordedAnswer]:
    turns: Any = CeConversationHistory.objects.filter(recording__isnull=False)
    if call.section == "llm":
        turns = turns.filter(model_calls__gt=0)
    turns = turns.only("conversation_id", "turn_no", "created_at", "recording").order_by("-history_id")
    for turn in turns[:_READ]:
        try:
            tape = read_recording(turn.recording).tape
        except ValueError:
            continue
        for section, stub in export_answers(PortCall(*entry) for entry in tape):
            if section == call.section and call.fits(stub):
                yield RecordedAnswer(*read_stub_answer(stub), turn.conversation_id, turn.turn_no or 0, turn.created_at)
