"""Why a turn runs on its release, when that is not simply the newest one, and where it begins then."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from convengine.json_value import Json


class ReleaseReason(StrEnum):
    """The reason for the release of a turn."""

    #: The setting `Releases/RUNNING`: the conversation waits for an answer that was asked for on this release.
    END_OF_FORM = "END_OF_FORM"
    #: The setting `Releases/RUNNING`: the session began on this release.
    END_OF_SESSION = "END_OF_SESSION"
    #: The newer release has no answer for the intent and state of the conversation.
    NO_ANSWER = "NO_ANSWER"
    #: The newer release has switched off the intent that the conversation is in the middle of.
    SWITCHED_OFF = "SWITCHED_OFF"
    #: The release is given to a part of the conversations, and this one has it.
    AUDIENCE = "AUDIENCE"
    #: The newest release is given to a part of the conversations only, and this one does not have it.
    NOT_IN_AUDIENCE = "NOT_IN_AUDIENCE"
    #: It runs on the newest release, which moved it.
    NEWEST = "NEWEST"


@dataclass(frozen=True)
class ReleaseChoice:
    """The choice of a release, as the recording of the turn keeps it."""

    reason: ReleaseReason
    #: The newest release at the start of the turn.
    newest: int
    #: Intent and state in which the turn begins instead of the stored ones.
    move: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Json]:
        return {"reason": self.reason.value, "newest": self.newest, "move": list(self.move) if self.move else None}

    @classmethod
    def read(cls, stored: Mapping[str, Json] | None) -> Self | None:
        """The choice from a recording. Returns None if it recorded no choice."""
        if not stored:
            return None
        move = stored["move"]
        return cls(ReleaseReason(stored["reason"]), stored["newest"], (move[0], move[1]) if move else None)
