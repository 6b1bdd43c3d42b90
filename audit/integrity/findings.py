"""Findings about a record: a sentence for people, and names for programs."""

import uuid
from dataclasses import asdict, dataclass
from typing import Any

#: The codes of findings. They are stable.
CODES = {
    "EVENT_CHANGED": "An event was changed.",
    "EVENT_MISSING": "An event was removed.",
    "EVENT_ADDED": "An event was added.",
    "EVENTS_SWAPPED": "Two events were swapped.",
    "DECIDING_ROWS_CHANGED": "The list of used rows was changed.",
    "MODEL_CALLS_CHANGED": "The log of model calls was changed.",
    "RECORD_CHANGED": "The turn record was changed.",
    "RECORD_MISSING": "A turn record was removed.",
    "SEAL_MISSING": "A turn record or an addition has no valid seal.",
    "CHAIN_BROKEN": "A seal does not follow from the previous one.",
    "END_CUT": "The end of a conversation's chain was removed or replaced.",
    "CONVERSATION_MISSING": "A conversation was removed.",
    "ERASED_WITHOUT_RECORD": "Content was removed, but no erasure is recorded.",
    "ANCHOR_DIFFERS": "The chain does not match the anchor.",
    "ANCHOR_MISSING": "A part of the chain that the anchor lists was removed.",
}


@dataclass(frozen=True)
class Finding:
    """One finding."""

    code: str
    conversation_id: uuid.UUID
    message: str
    turn_no: int | None = None
    seq: int | None = None
    stage: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {**asdict(self), "conversation_id": str(self.conversation_id)}

    def __str__(self) -> str:
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        event = "" if self.seq is None else f", event {self.seq}{f' {self.stage}' if self.stage else ''}"
        return f"{self.code}: conversation {self.conversation_id}{turn}{event}: {self.message}"
