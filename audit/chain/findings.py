"""What is wrong with a record, and where: one sentence for people, and names for programs."""

import uuid
from dataclasses import asdict, dataclass
from typing import Any

#: What may be found. The names are stable.
CODES = {
    "EVENT_CHANGED": "An event is not as it was written.",
    "EVENT_MISSING": "An event was taken out.",
    "EVENT_ADDED": "An event stands there that its seal does not know.",
    "EVENTS_SWAPPED": "Two events stand in each other's place.",
    "DECIDING_ROWS_CHANGED": "What is noted of the rows that decided is not as it was written.",
    "MODEL_CALLS_CHANGED": "The log of model calls is not as it was written.",
    "RECORD_CHANGED": "The turn record is not as it was written.",
    "RECORD_MISSING": "A turn record was taken out.",
    "SEAL_MISSING": "A turn record or an addition has no seal, or one that cannot be read.",
    "CHAIN_BROKEN": "A seal does not follow from the one before it.",
    "END_CUT": "The end of a conversation's chain was taken away or replaced.",
    "CONVERSATION_MISSING": "A conversation was taken out.",
    "ERASED_WITHOUT_RECORD": "Contents were taken out, and no erasure of them was recorded.",
    "ANCHOR_DIFFERS": "The chain is another one than the anchor has.",
    "ANCHOR_MISSING": "What the anchor has was taken out.",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    code: str
    conversation_id: uuid.UUID
    message: str
    turn_no: int | None = None
    seq: int | None = None
    stage: str | None = None

    def told(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "conversation_id": str(self.conversation_id)}

    def __str__(self) -> str:
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        event = "" if self.seq is None else f", event {self.seq}{f' {self.stage}' if self.stage else ''}"
        return f"{self.code}: conversation {self.conversation_id}{turn}{event}: {self.message}"
