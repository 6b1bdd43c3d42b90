"""What a turn starts from: the stored conversation, and a limited part of its past."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Exchange

Json = Any


@dataclass(frozen=True)
class Conversation:
    """A `ce_conversation` row at the start of the turn; fields are named like the columns."""

    conversation_id: str
    workspace_id: str = "default"
    channel: str = "api"
    remote_jid: str = ""
    status: str = "RUNNING"
    intent_code: str = UNKNOWN
    state_code: str = UNKNOWN
    #: Usually an object; another value is repaired at the start of the turn.
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
