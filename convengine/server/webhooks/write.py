"""Write events for the webhooks that want them, in the commit of what happened.

Each event is one statement that finds its webhooks itself, so nothing is read before.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from django.db import transaction

from convengine.engine.redaction import Redaction
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.scope import HAND_OVER, UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import Statement, dialect, execute
from convengine.server.sessions.models import CeConversation
from convengine.server.webhooks.events import BY_STAGE, CONVERSATION_ENDED, HANDED_OVER, RELEASE_PUBLISHED, EventType
from convengine.server.webhooks.models import CeWebhook
from convengine.server.webhooks.send import wake_sender


class _ConversationRow(Protocol):
    """What the data of an event says of its conversation."""

    @property
    def workspace_id(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def remote_jid(self) -> str: ...


def insert_turn_events_stmts(turn: Turn, row: Conversation, session: Session) -> list[Statement]:
    """The events of a turn that ended in this session, which has masks; none for most turns.

    `row` is the conversation before the turn.
    """
    redaction, at = Redaction.of(turn.snapshot), turn.ports.clock.now()
    return [
        _insert_stmt(event, at, _describe(row, ended, turn) | redaction.document(data), row.workspace_id)
        for event, ended, data in _list_turn_events(turn, row, session)
    ]


def _list_turn_events(
    turn: Turn, row: Conversation, session: Session
) -> Iterator[tuple[EventType, Session, Mapping[str, Json]]]:
    previous = turn.previous_session.session if turn.previous_session else session
    for entry in turn.trail.events:
        event = BY_STAGE.get(entry.stage)
        if event and all(entry.payload.get(key) in values for key, values in event.only.items()):
            keys = {name: member.payload_key for name, member in event.members.items() if member.payload_key}
            values = {name: entry.payload.get(key) for name, key in keys.items()}
            values |= {"message": session.user_text or ""} if "message" in event.members else {}
            ended = session if entry.session.conversation_id == session.conversation_id else previous
            yield event, ended, {name: value for name, value in values.items() if value is not None}
    if code(session.state) == HAND_OVER and (turn.previous_session or code(row.state_code) != HAND_OVER):
        reply = to_spoken_text(session.last_assistant)
        yield HANDED_OVER, session, {"message": session.user_text or "", "reply": reply or ""}


def _describe(row: _ConversationRow, session: Session, turn: Turn) -> dict[str, Json]:
    return {
        **_describe_conversation(row, session.conversation_id),
        "turnNo": session.turn_no,
        "turnId": turn.turn_id,
        "intent": session.intent or UNKNOWN,
        "state": session.state or UNKNOWN,
        "configVersion": turn.snapshot.config_version,
    }


def _describe_conversation(row: _ConversationRow, conversation_id: str) -> dict[str, Json]:
    """On the plain turn API the participant is the conversation itself."""
    participant = {} if row.remote_jid == conversation_id else {"participant": row.remote_jid}
    return {"conversationId": conversation_id, "workspace": row.workspace_id, "channel": row.channel, **participant}


def store_ends(conversation_ids: Iterable[str], to: Lifecycle, reason: str, now: datetime, config_version: int) -> None:
    """Store that conversations ended outside of turns. Needs an open transaction."""
    if not CeWebhook.objects.filter(is_enabled=True).exists():
        return
    for row in CeConversation.objects.filter(pk__in=list(conversation_ids)):
        data = {
            **_describe_conversation(row, str(row.pk)),
            "turnNo": row.last_turn_no,
            "intent": row.intent_code,
            "state": row.state_code,
            "configVersion": config_version,
            "lifecycle": to.value,
            "reason": reason,
        }
        execute(_insert_stmt(CONVERSATION_ENDED, now, data, row.workspace_id))
    transaction.on_commit(wake_sender)


def store_release(config_version: int, origin: str, author: str, reason: str, now: datetime) -> None:
    """Store that a release was published. Needs an open transaction."""
    data = {"configVersion": config_version, "origin": origin, "author": author, "reason": reason}
    execute(_insert_stmt(RELEASE_PUBLISHED, now, data, None))
    transaction.on_commit(wake_sender)


def _insert_stmt(event: EventType, at: datetime, data: Mapping[str, Json], workspace: str | None) -> Statement:
    """A row for each webhook that wants the event. It is of all workspaces if none is named."""
    sql = dialect()
    body = dumps({"type": event.name, "timestamp": at.isoformat(), "data": data})
    of_workspace = "" if workspace is None else " AND workspace_id IN ('', %s)"
    time = sql.time_param(at)
    return Statement(
        f"""INSERT INTO ce_webhook_delivery
    (webhook_id, event_id, event, conversation_id, body, status, attempts, next_attempt_at, error, created_at)
SELECT webhook_id, %s, %s, %s, %s, 'PENDING', 0, %s, '', %s
  FROM ce_webhook WHERE is_enabled AND CAST(events AS TEXT) LIKE %s{of_workspace}""",
        [
            sql.uuid_param(uuid.uuid4()),
            event.name,
            data.get("conversationId", ""),
            body,
            time,
            time,
            f'%"{event.name}"%',
            *([] if workspace is None else [workspace]),
        ],
    )
