"""The position of a reader in a conversation, as in the ids of its events."""

import re
from typing import NamedTuple, Self

#: The number after all events of an ended turn.
END = 999_999
_TEXT = re.compile(r"^(\d{1,9})\.(\d{1,6})(?:\.(\d{1,18}))?$")


class StreamCursor(NamedTuple):
    """A position after an event: `turnNo.seq`, and after the last event outside of turns, if any.

    Events outside of turns (a session that timed out, feedback) and a model's writing after the answer have an order of
    their own, so that the order of two commits does not matter.
    """

    turn_no: int
    seq: int
    #: `audit_id` of the last of those other events.
    beside: int = 0

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The position of an id. Returns None for a text that is not an id."""
        match = _TEXT.match(text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

    def advance(self, other: Self) -> Self:
        """The position after both; the same one if `other` was passed."""
        return type(self)(*max(self[:2], other[:2]), max(self.beside, other.beside))

    def __str__(self) -> str:
        beside = f".{self.beside}" if self.beside else ""
        return f"{self.turn_no}.{self.seq}{beside}"
