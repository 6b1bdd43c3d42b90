"""What somebody looks for, as one value."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from audit.finding.words import Wanted

TURNS, CONVERSATIONS = "turns", "conversations"


@dataclass(frozen=True)
class Search:
    """What is asked of turns; everything that is given must hold. Empty fields ask nothing."""

    #: Of a conversation, or of a turn.
    id: uuid.UUID | None = None
    #: Of one workspace only; callers of the API see no other.
    workspace: str = ""
    channel: str = ""
    participant: str = ""
    text: Wanted | None = None
    intent: str = ""
    state: str = ""
    status: str = ""
    stage: str = ""
    #: A configuration row that decided: its table, and its key as text.
    table: str = ""
    row: str = ""
    error: str = ""
    release: int | None = None
    #: A type of feedback that somebody gave on the turn, and that stands.
    feedback: str = ""
    #: At least so much for the model calls of the turn.
    cost: Decimal | None = None
    #: At least so many milliseconds.
    duration: int | None = None
    #: Turns that began then, both ends included.
    since: datetime | None = None
    until: datetime | None = None
    #: TURNS, or CONVERSATIONS: each at its newest turn that fits.
    kind: str = TURNS
