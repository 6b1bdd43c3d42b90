"""A session as JSON, in snake_case as in the original (sessions 10, R43)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.threads.resolve import IdleLimits
from convengine.engine.turn.payload import to_spoken_text
from convengine.server.api import wire
from convengine.server.app_interfaces import configuration
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.find_session import ResolvedSession, Thread
from convengine.server.threads.take_message import ThreadAnswer

Json = Any
#: Columns of a session that are shown unchanged.
_COLUMNS = (
    "workspace_id", "channel", "remote_jid", "turn_count", "context_summary", "lifecycle", "lifecycle_detail",
    "preferences", "mounted_kb_id",
)  # fmt: skip


def session_json(row: CeConversation) -> dict[str, Json]:
    """A stored session."""
    return _build_session(
        {name: getattr(row, name) for name in _COLUMNS}
        | {"session_id": str(row.pk), "engine_status": row.status, "intent": row.intent_code, "state": row.state_code},
        row.created_at,
        row.last_message_at or row.created_at,
        str(row.previous_session_id) if row.previous_session_id else None,
    )


def resolved_json(resolved: ResolvedSession, session: Mapping[str, Json]) -> dict[str, Json]:
    """Why a message belongs to a session."""
    return {
        "ok": True,
        "session_id": session["session_id"],
        "decision": resolved.decision,
        "reason": resolved.reason.value,
        "session": session,
    }


def answered_json(thread: Thread, answer: ThreadAnswer) -> dict[str, Json]:
    """The same for an answered message, with the turn as in the turn API, and its text in `reply`."""
    turn = answer.turn
    session = _after(thread, answer)
    reply = to_spoken_text(turn.session.last_assistant) if turn.error is None else None
    return {
        **resolved_json(answer.resolved, session),
        "ok": turn.error is None,
        "message_intent": turn.session.input_params.get("message_intent"),
        "reply": reply,
        "turn": wire.body(turn),
    }


def _after(thread: Thread, answer: ThreadAnswer) -> dict[str, Json]:
    """The session after the turn, before it is stored; unchanged after a failed turn."""
    turn, session = answer.turn, answer.turn.session
    before, at = turn.before, turn.at
    assert before is not None  # Every turn that ran has them.
    assert at is not None
    if turn.error is not None:
        return session_json(CeConversation.objects.get(pk=turn.conversation_id))
    return _build_session(
        {
            "workspace_id": thread.workspace_id,
            "channel": thread.channel,
            "remote_jid": thread.remote_jid,
            "turn_count": 1 if turn.left_id else before.turn_count + 1,
            "context_summary": session.context_summary,
            "lifecycle": session.lifecycle,
            "lifecycle_detail": session.lifecycle_detail,
            "preferences": session.preferences,
            "mounted_kb_id": session.mounted_kb_id,
            "session_id": turn.conversation_id,
            "engine_status": session.status,
            "intent": session.intent,
            "state": session.state,
        },
        at if turn.left_id else before.created_at or at,
        at,
        turn.left_id or answer.resolved.previous_id,
    )


def _build_session(
    values: Mapping[str, Json], created_at: datetime, last_message_at: datetime, previous: str | None
) -> dict[str, Json]:
    closed = values["lifecycle"] in CLOSED
    return {
        **values,
        "status": "closed" if closed else "active",
        "created_at": created_at.isoformat(),
        "last_message_at": last_message_at.isoformat(),
        "expires_at": None if closed else _expiry(values["channel"], last_message_at),
        "previous_session_id": previous,
    }


def _expiry(channel: str, last_message_at: datetime) -> str | None:
    """When a message would open a new session, by the current settings; null on the plain turn API (R21)."""
    if channel == "api":
        return None
    return (last_message_at + IdleLimits.of(configuration().latest, channel).end).isoformat()
