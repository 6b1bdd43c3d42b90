"""Write events for the webhooks that want them, in the commit of what happened.

The events of a turn are one statement. Only a turn that has any reads the webhooks.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from convengine.engine.redaction import MASK, Redaction
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import PLAIN_CHANNEL, Conversation
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.scope import HAND_OVER, UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import Statement, database_time, dialect, execute
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.sessions.models import CeConversation
from convengine.server.webhooks.events import (
    BY_STAGE,
    CONVERSATION_ENDED,
    HANDED_OVER,
    RELEASE_PUBLISHED,
    TURN_ANSWERED,
    UNDELIVERED,
    EventType,
)
from convengine.server.webhooks.models import TEST, CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import wake_sender


class _NewEvent(NamedTuple):
    type: EventType
    data: Mapping[str, Json]


def insert_webhook_events_stmts(turn: Turn, row: Conversation, session: Session) -> list[Statement]:
    """The events of a turn that ended in this session, which has masks; most turns have none.

    `row` is the conversation before the turn.
    """
    return _insert_stmts(list(_list_turn_events(turn, row, session)), turn.ports.clock.now())


def _list_turn_events(turn: Turn, row: Conversation, session: Session) -> Iterator[_NewEvent]:
    """The events that stages of the turn make, and the hand-over if the turn reached that state."""
    redaction = Redaction.of(turn.snapshot)
    previous = turn.previous_session or session
    for entry in turn.trail.events:
        event = BY_STAGE.get(entry.stage)
        if event and all(entry.payload.get(key) in values for key, values in event.only.items()):
            keys = {name: member.payload_key for name, member in event.members.items() if member.payload_key}
            values = {name: value for name, key in keys.items() if (value := entry.payload.get(key)) is not None}
            values |= {"message": session.user_text or ""} if "message" in event.members else {}
            event_session = session if entry.session.conversation_id == session.conversation_id else previous
            yield _NewEvent(event, _describe_turn(row, event_session, turn) | redaction.document(values))
    if code(session.state) == HAND_OVER and (turn.previous_session or code(row.state_code) != HAND_OVER):
        texts = {"message": session.user_text or "", "reply": to_spoken_text(session.last_assistant)}
        yield _NewEvent(HANDED_OVER, _describe_turn(row, session, turn) | redaction.document(texts))


def _describe_turn(row: Conversation | CeConversation, session: Session, turn: Turn) -> dict[str, Json]:
    """The data that every event of a turn has. `row` is the conversation before the turn."""
    return {
        **_describe_conversation(row, session.conversation_id, Redaction.of(turn.snapshot)),
        "turnNo": session.turn_no,
        "turnId": turn.turn_id,
        "intent": session.intent or UNKNOWN,
        "state": session.state or UNKNOWN,
        "configVersion": turn.snapshot.config_version,
    }


def _describe_conversation(
    row: Conversation | CeConversation, conversation_id: str, redaction: Redaction
) -> dict[str, Json]:
    """The data of an event that says which conversation it is about, with masks.

    The participant is missing on the plain turn API, where it is the conversation itself.
    """
    described: dict[str, Json] = {
        "conversationId": conversation_id,
        "workspace": row.workspace_id,
        "channel": row.channel,
    }
    if row.remote_jid != conversation_id:
        is_masked = redaction.is_masked_name("participant")
        described["participant"] = MASK if is_masked else redaction.text(row.remote_jid)
    return described


def store_ends(conversation_ids: Iterable[str], to: Lifecycle, reason: str, now: datetime, config_version: int) -> None:
    """Write the events of conversations that ended outside of turns. Needs an open transaction."""
    if not CeWebhook.objects.filter(is_enabled=True).exists():
        return
    rows = CeConversation.objects.filter(pk__in=list(conversation_ids))
    redaction = Redaction.of(configuration().latest)
    events = [
        _NewEvent(
            CONVERSATION_ENDED,
            {
                **_describe_conversation(row, str(row.pk), redaction),
                "turnNo": row.last_turn_no,
                "intent": row.intent_code,
                "state": row.state_code,
                "configVersion": config_version,
                "lifecycle": to.value,
                "reason": reason,
            },
        )
        for row in rows
    ]
    _store(events, now)


def store_answer_event(
    message_id: str, workspace: str, thread: Mapping[str, str] | None, answer: Mapping[str, Json], now: datetime
) -> None:
    """Write the event of the answer to a queued message of a workspace. Needs an open transaction.

    `thread`: channel and participant of a message of a thread.
    """
    snapshot, conversation_id = configuration().latest, str(answer["conversationId"] or "")
    row = _find_conversation(conversation_id, workspace, thread)
    redaction, payload = Redaction.of(snapshot), answer.get("payload")
    shown = {name: value for name, value in answer.items() if name not in _UNSENT}
    reply = to_spoken_text(payload["value"]) if answer["success"] and isinstance(payload, Mapping) else ""
    after = answer if answer["success"] else {"intent": row.intent_code, "state": row.state_code}
    data = {
        **_describe_conversation(row, conversation_id, redaction),
        "turnNo": answer.get("turnNo", row.last_turn_no),
        **({"turnId": answer["turnId"]} if "turnId" in answer else {}),
        "intent": after["intent"] or UNKNOWN,
        "state": after["state"] or UNKNOWN,
        "configVersion": answer.get("configVersion", snapshot.config_version),
        "messageId": message_id,
        "success": answer["success"],
        "reply": redaction.text(reply),
        "answer": redaction.document(shown),
    }
    _store([_NewEvent(TURN_ANSWERED, data)], now)


def store_undelivered_event(conversation_id: str, workspace: str, text: str, error: str, now: datetime) -> None:
    """Write the event of a message that did not arrive."""
    snapshot = configuration().latest
    redaction, row = Redaction.of(snapshot), _find_conversation(conversation_id, workspace, None)
    data = {
        **_describe_conversation(row, conversation_id, redaction),
        "turnNo": row.last_turn_no,
        "intent": row.intent_code or UNKNOWN,
        "state": row.state_code or UNKNOWN,
        "configVersion": snapshot.config_version,
        "text": redaction.text(text),
        "error": redaction.text(error),
    }
    with transaction.atomic():
        _store([_NewEvent(UNDELIVERED, data)], now)


def _find_conversation(conversation_id: str, workspace: str, thread: Mapping[str, str] | None) -> CeConversation:
    """The stored conversation of a queued message, or a new object where its workspace does not have it."""
    rows = CeConversation.objects.filter(workspace_id=workspace)
    if conversation_id and (row := rows.filter(pk=conversation_id).first()):
        return row
    channel, participant = (thread["channel"], thread["remote_jid"]) if thread else (PLAIN_CHANNEL, conversation_id)
    return CeConversation(pk=conversation_id, workspace_id=workspace, channel=channel, remote_jid=participant)


#: The parts of an answer that no webhook gets.
_UNSENT = frozenset({"context", "verbose"})


def store_release_event(config_version: int, origin: str, author: str, reason: str, now: datetime) -> None:
    """Write the event of a published release. Needs an open transaction."""
    data = {"configVersion": config_version, "origin": origin, "author": author, "reason": reason}
    _store([_NewEvent(RELEASE_PUBLISHED, data)], now)


def _store(events: Sequence[_NewEvent], now: datetime) -> None:
    """Insert the deliveries of events, and have them sent after the commit."""
    for statement in _insert_stmts(events, now):
        execute(statement)
        transaction.on_commit(wake_sender)


def create_test(webhook: CeWebhook) -> CeWebhookDelivery:
    """Store an event without meaning for a webhook, and have it sent after the commit."""
    now = database_time()
    body = {"type": TEST, "timestamp": now.isoformat(), "data": {"message": "This is a test."}}
    row = CeWebhookDelivery.objects.create(
        webhook=webhook, event_id=uuid.uuid4(), event=TEST, body=dumps(body), next_attempt_at=now, created_at=now
    )
    transaction.on_commit(wake_sender)
    return row


#: The deliveries of a statement as rows `e`, in order, and the expressions of their members.
_ROWS = {
    "postgresql": "jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS e(value, key)",
    "sqlite": "json_each(%s) AS e",
}
_MEMBERS = {
    "postgresql": ["(e.value ->> 0)::bigint", "(e.value ->> 1)::uuid", *(f"e.value ->> {at}" for at in range(2, 6))],
    "sqlite": [f"json_extract(e.value, '$[{at}]')" for at in range(6)],
}


def _insert_stmts(events: Sequence[_NewEvent], at: datetime) -> list[Statement]:
    """A row for each event and each webhook that wants it; no statement if none does.

    One statement for all, because parts of a commit are executed in any order.
    """
    rows = [_encode_delivery(*pair, at) for pair in _list_deliveries(events)]
    return [_insert_stmt(rows, at)] if rows else []


def _list_deliveries(events: Sequence[_NewEvent]) -> Iterator[tuple[CeWebhook, _NewEvent, uuid.UUID]]:
    """Each webhook with each event that it wants, and the event's id, which all webhooks share.

    An event of no conversation goes to webhooks of all workspaces.
    """
    webhooks = list(CeWebhook.objects.filter(is_enabled=True).order_by("pk")) if events else []
    for event in events:
        event_id, workspace = uuid.uuid4(), event.data.get("workspace")
        for webhook in webhooks:
            is_of_workspace = not webhook.workspace_id or workspace in (None, webhook.workspace_id)
            if is_of_workspace and event.type.name in webhook.events:
                yield webhook, event, event_id


def _encode_delivery(webhook: CeWebhook, event: _NewEvent, event_id: uuid.UUID, at: datetime) -> list[Json]:
    """The values of a delivery's row, in the order of `_MEMBERS`; the last one is its proof."""
    body = dumps({"type": event.type.name, "timestamp": at.isoformat(), "data": event.data})
    values: dict[str, Any] = {
        "webhook_id": webhook.pk,
        "event_id": event_id,
        "event": event.type.name,
        "conversation_id": event.data.get("conversationId", ""),
        "body": body,
    }
    proof = CeWebhookDelivery.prove({**values, "created_at": at, "status": OutboxStatus.PENDING, "error": ""})
    return [*(values | {"event_id": dialect().uuid_param(event_id)}).values(), proof]


def _insert_stmt(rows: Sequence[Sequence[Json]], at: datetime) -> Statement:
    """The statement that inserts encoded deliveries, but for webhooks that were turned off or deleted meanwhile."""
    sql = dialect()
    webhook_id, event_id, name, conversation_id, body, proof = _MEMBERS[sql.vendor]
    time = sql.time_param(at)
    return Statement(
        f"""INSERT INTO ce_webhook_delivery
    (webhook_id, event_id, event, conversation_id, body, proof, status, attempts, next_attempt_at, error, created_at)
SELECT w.webhook_id, {event_id}, {name}, {conversation_id}, {body}, {proof}, 'PENDING', 0, %s, '', %s
  FROM {_ROWS[sql.vendor]} JOIN ce_webhook w ON w.webhook_id = {webhook_id} AND w.is_enabled
 ORDER BY e.key""",
        [time, time, dumps(rows)],
    )
