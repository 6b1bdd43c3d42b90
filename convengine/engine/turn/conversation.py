"""What a turn starts from: the stored conversation and its recent past; to a session and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from convengine.engine.text.compare import blank, code
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.enums import MessageIntent
from convengine.engine.turn.params import is_turn_param, keep_persistent
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import KNOWLEDGE_BASE, Clarification, Exchange, Session
from convengine.json_value import Json

#: The channel of conversations that are named by their id.
PLAIN_CHANNEL = "api"


@dataclass(frozen=True)
class Conversation:
    """A `ce_conversation` row at the start of the turn; fields are named like the columns."""

    conversation_id: str
    workspace_id: str = "default"
    channel: str = PLAIN_CHANNEL
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

    def has_just_begun(self, previous_turn: Mapping[str, Any]) -> bool:
        """True when its only turn, which left these params, began a new task."""
        return self.turn_count == 1 and previous_turn.get("message_intent") == MessageIntent.NEW_TASK


@dataclass(frozen=True)
class Loaded:
    """Everything of the past that a turn may read. Its size does not grow with the conversation."""

    conversation: Conversation
    #: The newest committed turns of the current epoch, oldest first.
    history: tuple[Exchange, ...] = ()
    #: The turn-lifetime params of the last committed turn.
    previous_turn: Mapping[str, Json] = field(default_factory=dict)
    #: The recalled memory summary, if any.
    memory_recall: str | None = None
    #: True when this turn made the row.
    created: bool = False


def list_exchanges(past: Iterable[tuple[str | None, Json]]) -> tuple[Exchange, ...]:
    """Messages and stored answers as exchanges; those with a blank side are left out."""
    return tuple(
        Exchange(user, text) for user, answer in past if user and user.strip() and (text := to_spoken_text(answer))
    )


def restore_context(loaded: Loaded) -> tuple[Mapping[str, Json], str | None]:
    """The stored context, and None or its fault: a value that is not an object counts as empty."""
    context = loaded.conversation.context_json
    if isinstance(context, Mapping):
        return context, None
    return {}, f"context_json is {type(context).__name__}, not an object"


def restore_session(
    session: Session,
    loaded: Loaded,
    params: Mapping[str, Json],
    preferences: Mapping[str, str] = MappingProxyType({}),
) -> Session:
    """The session at the start of the turn. `params` and `preferences` of the request override stored ones.

    Lock and clarification are restored here only; no later step reads them from the context.
    """
    row = loaded.conversation
    context, _ = restore_context(loaded)
    stored = row.input_params_json if isinstance(row.input_params_json, Mapping) else {}
    extra: dict[str, Json] = {"previousTurn": dict(loaded.previous_turn)} if loaded.previous_turn else {}
    intent, state = code(row.intent_code) or UNKNOWN, code(row.state_code) or UNKNOWN
    lock = _get_branch(context, "intent_lock")
    return session.evolve(
        intent=intent,
        state=state,
        turn_start_intent=intent,
        turn_start_state=state,
        context=context,
        user_input_params=params,
        history=loaded.history,
        epoch=row.context_epoch,
        version=row.version,
        status=row.status,
        lifecycle=row.lifecycle,
        lifecycle_detail=row.lifecycle_detail,
        context_summary=row.context_summary,
        preferences={**row.preferences, **preferences} if preferences else row.preferences,
        mounted_kb_id=preferences.get(KNOWLEDGE_BASE, row.mounted_kb_id),
        last_assistant=row.last_assistant_json,
        clarification=_read_clarification(_get_branch(context, "pending_clarification")),
        intent_locked=lock.get("locked") is True,
        intent_lock_reason=(lock.get("reason") or UNKNOWN) if lock.get("locked") is True else None,
    ).with_only_params(
        {
            **{key: value for key, value in stored.items() if not is_turn_param(key)},
            **params,
            **extra,
            "standalone_query": None,
            "resolved_user_input": session.user_text,
        }
    )


def build_closing_context(session: Session) -> dict[str, Json]:
    """The context for the row: with lock and clarification in their branches, always both."""
    clarification = session.clarification
    return {
        **session.context,
        "pending_clarification": {
            "question": clarification.question if clarification else None,
            "reason": clarification.reason if clarification else None,
            **({"options": list(clarification.options)} if clarification and clarification.options else {}),
            **({"asks": clarification.asks} if clarification and clarification.asks > 1 else {}),
        },
        "intent_lock": {"locked": session.intent_locked, "reason": session.intent_lock_reason},
    }


def build_columns(session: Session) -> dict[str, Any]:
    """The columns of the row that a turn changes, as storage returns them. The row's turns are counted elsewhere."""
    columns: dict[str, Any] = to_plain(
        {
            "status": session.status,
            "intent_code": session.intent or UNKNOWN,
            "state_code": session.state or UNKNOWN,
            "context_json": session.context,
            "input_params_json": keep_persistent(session.input_params),
            "last_user_text": session.user_text,
            "last_assistant_json": session.last_assistant,
            "context_epoch": session.epoch,
            "lifecycle": session.lifecycle,
            "lifecycle_detail": session.lifecycle_detail,
            "context_summary": session.context_summary,
            "preferences": session.preferences,
            "mounted_kb_id": session.mounted_kb_id,
        }
    )
    return columns


def _get_branch(context: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = context.get(name)
    return value if isinstance(value, Mapping) else {}


def _read_clarification(branch: Mapping[str, Json]) -> Clarification | None:
    """The stored question of an earlier turn. Returns None if there is none."""
    question = branch.get("question")
    if not isinstance(question, str) or blank(question):
        return None
    options = branch.get("options")
    asks = branch.get("asks")
    return Clarification(
        question,
        str(branch.get("reason") or UNKNOWN),
        tuple(options) if isinstance(options, (list, tuple)) else (),
        from_previous_turn=True,
        asks=asks if isinstance(asks, int) else 1,
    )
