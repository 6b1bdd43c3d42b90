"""Releases: how a change becomes live, and why a turn runs on another one than the newest, and begins elsewhere.

And the part of a release that a channel has: its intents.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from convengine.engine.turn.live_settings import declare, integer, one_of, read, text_list
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

FAMILY = "Releases"

MODE = declare(
    FAMILY,
    "MODE",
    one_of("LIVE", "REVIEWED"),
    "LIVE",
    "LIVE: a saved change is live at once, outside of drafts. REVIEWED: every change is made in a draft, which is "
    "published; forms, imports and the API refuse any other.",
    mark="LR",
    label="How changes become live",
)

GATE = declare(
    FAMILY,
    "GATE",
    text_list(),
    (),
    "Tags of tests, such as booking, must-pass. A draft is published only if every test with one of these tags passed "
    "on it. While a tag is named, every change is made in a draft.",
    mark="LR",
    label="Tests that must pass before publishing",
)

APPROVALS = declare(
    FAMILY,
    "APPROVALS",
    integer(0, 20),
    0,
    "The number of people who must approve a draft before it is published. Those who edited the draft do not count, "
    "and an edit after an approval makes it void.",
    mark="LR",
    label="Approvals of a draft",
)

RUNNING = declare(
    FAMILY,
    "RUNNING",
    one_of("NEXT_TURN", "END_OF_FORM", "END_OF_SESSION"),
    "NEXT_TURN",
    "When an open conversation gets a new release. NEXT_TURN: with its next message. END_OF_FORM: while it waits for "
    "an answer (of a form, a yes, a choice), it stays on the release that asked. "
    "END_OF_SESSION: with its next session.",
    label="When open conversations get a release",
)
INTENTS = declare(
    "Channel",
    "INTENTS",
    text_list(codes=True),
    (),
    "The flows that users of this channel can begin, by their intents, such as BOOKING, REFUND. The questions beside "
    "their forms, and intents that hand over to a person, belong to every channel. Empty: all intents.",
    qualifier="channel",
    label="Intents of a channel",
)


def requires_draft(snapshot: Snapshot) -> bool:
    """True when changes after this release are made in drafts only."""
    # A saved change cannot wait for tests, so a gate needs drafts.
    return bool(read(snapshot, MODE).value == "REVIEWED" or read(snapshot, GATE).value)


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


def limit_to_channel(snapshot: Snapshot, channel: str) -> Snapshot:
    """The configuration as users of a channel have it; the same one if the channel has all intents."""
    intents = read(snapshot, INTENTS, channel).value
    if not intents:
        return snapshot.whole
    return snapshot.whole.memo.get(("intents of a channel", intents), lambda: snapshot.whole.limit_intents(intents))
