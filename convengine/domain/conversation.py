"""What a turn starts from: the conversation as stored, and the bounded tail of its past."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from convengine.domain.scope import UNKNOWN
from convengine.domain.session import Exchange

Json = Any


@dataclass(frozen=True)
class Conversation:
    """A `ce_conversation` row as it was when the turn took its lease; fields are named like the columns."""

    conversation_id: str
    workspace_id: str = "default"
    channel: str = "api"
    remote_jid: str = ""
    status: str = "RUNNING"
    intent_code: str = UNKNOWN
    state_code: str = UNKNOWN
    #: Usually an object; whatever else the column holds is repaired at turn start (SYN-2).
    context_json: Json = field(default_factory=dict)
    input_params_json: Json = field(default_factory=dict)
    last_user_text: str | None = None
    last_assistant_json: Json = None
    version: int = 0
    turn_count: int = 0
    context_epoch: int = 0
    lifecycle: str = "RUNNING"
    lifecycle_detail: Mapping[str, Json] = field(default_factory=dict)
    context_summary: str = ""
    preferences: Mapping[str, str] = field(default_factory=dict)
    mounted_kb_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True)
class Loaded:
    """Everything of the past that a turn may read. Its size does not grow with the conversation (law 8)."""

    conversation: Conversation
    #: The newest committed turns of the current epoch, oldest first.
    history: tuple[Exchange, ...] = ()
    #: The turn-lifetime params of the last committed turn.
    previous_turn: Mapping[str, Json] = field(default_factory=dict)
    #: The recalled memory summary, if any.
    memory_recall: str | None = None
    #: True when this turn made the row.
    created: bool = False
