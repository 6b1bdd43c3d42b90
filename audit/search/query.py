"""A search as a value."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from audit.record.form_steps import Step
from audit.record.outcomes import WantedOutcome
from audit.search.text_query import TextQuery

TURNS, CONVERSATIONS = "turns", "conversations"


@dataclass(frozen=True)
class SearchQuery:
    """The filters of a search; all must match. Empty fields match everything."""

    #: Of a conversation, or of a turn.
    id: uuid.UUID | None = None
    #: Callers of the API see one workspace only.
    workspace: str = ""
    channel: str = ""
    participant: str = ""
    text: TextQuery | None = None
    intent: str = ""
    state: str = ""
    #: Before the turn.
    intent_before: str = ""
    state_before: str = ""
    status: str = ""
    stage: str = ""
    #: What happened in the turn: a `Milestone`.
    milestone: str = ""
    #: What became of the conversation, or of a form, that began in the turn.
    outcome: WantedOutcome | None = None
    #: A step of a form.
    step: Step | None = None
    #: A group of messages of the inbox.
    group: int | None = None
    #: A deciding row: its table, and its key as text.
    table: str = ""
    row: str = ""
    error: str = ""
    release: int | None = None
    #: A model that was called, with its connection: `connection/model`.
    model: str = ""
    #: A type of feedback on the turn that was not replaced.
    feedback: str = ""
    #: Minimum cost of the turn's model calls.
    cost: Decimal | None = None
    #: Minimum duration in milliseconds.
    duration: int | None = None
    #: The time range of turns, inclusive.
    since: datetime | None = None
    until: datetime | None = None
    #: TURNS, or CONVERSATIONS: each at its newest matching turn.
    kind: str = TURNS
