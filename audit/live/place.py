"""How far a reader of a conversation has come: what the ids of its events say (R75)."""

import re
from typing import NamedTuple, Self

#: The number behind all events of a turn that is over.
END = 999_999
_TEXT = re.compile(r"^(\d{1,9})\.(\d{1,6})(?:\.(\d{1,18}))?$")


class Place(NamedTuple):
    """Behind an event: `turnNo.seq`, and behind the last event outside of turns where there was one.

    Events outside of turns (a session that ends by time, feedback) and what a model writes after the answer have an
    order of their own, so that nothing depends on which of two transactions ended first.
    """

    turn_no: int
    seq: int
    #: `audit_id` of the last of those others.
    beside: int = 0

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The place of an id; null for a text that is none."""
        match = _TEXT.match(text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

    def __str__(self) -> str:
        beside = f".{self.beside}" if self.beside else ""
        return f"{self.turn_no}.{self.seq}{beside}"
