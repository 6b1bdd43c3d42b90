"""What callers choose of a turn's answer."""

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.engine.turn.local_time import CLOCK
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage

#: What `?include=` may add to an answer.
PARTS = ("verbose", "trace")
#: What `?context=` may be.
CONTEXT_PARTS = ("none", "public", "all")
#: Branches of the context that steps keep for themselves.
INTERNAL_BRANCHES = ENGINE_BRANCHES | {CLOCK, DIALOGUE, "pending_slot", "pendingSlot"}


#: What became of a queued message.
MESSAGE_STATES: Mapping[str, str] = {
    OutboxStatus.PENDING: "WAITING",
    OutboxStatus.SENT: "ANSWERED",
    OutboxStatus.FAILED: "FAILED",
}
MESSAGE_STATUSES = list(MESSAGE_STATES.values())


def select_parts(body: dict[str, Any], parts: Collection[str]) -> dict[str, Any]:
    """A body with the requested parts only; its trace is not in it yet."""
    return {name: value for name, value in body.items() if name not in PARTS or name in parts}


def select_context(body: dict[str, Any], part: str) -> dict[str, Any]:
    """A body with the requested part of its context: all, what rules and forms wrote, or null."""
    context = body.get("context")
    if part == "all" or context is None:
        return body
    public = {key: value for key, value in context.items() if key not in INTERNAL_BRANCHES and not key.startswith("_")}
    return {**body, "context": public if part == "public" else None}


def add_trace(answer: dict[str, Any]) -> dict[str, Any]:
    """A body with the stored trace of its turn, which may have run for an earlier call."""
    if "turnNo" not in answer:
        # A queued message that failed has no turn.
        return answer
    return {**answer, "trace": turn_reader().read_turn_trace(uuid.UUID(answer["conversationId"]), answer["turnNo"])}


def to_original_form(answer: dict[str, Any]) -> dict[str, Any]:
    """The same answer in the original's form: documents as JSON text."""
    payload = answer["payload"]
    if payload and payload["type"] != "TEXT":
        payload = {**payload, "value": dumps(payload["value"])}
    context = answer["context"]
    return {**answer, "payload": payload, "context": None if context is None else dumps(context)}


def describe_message(row: CeQueuedMessage, answer: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "messageId": str(row.message_id),
        "conversationId": str(row.conversation_id) if row.conversation_id else None,
        "status": MESSAGE_STATES[row.status],
        "turnUrl": _find_turn_url(row),
        "answer": answer,
    }


def build_queued_headers(row: CeQueuedMessage) -> dict[str, str]:
    """The headers of the answer that a message was queued."""
    return {"Preference-Applied": "respond-async", "Location": _find_turn_url(row)}


def _find_turn_url(row: CeQueuedMessage) -> str:
    return f"/api/v1/{'sessions' if row.thread else 'conversation'}/message/{row.message_id}"
