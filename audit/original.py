"""The original's answers on the audit endpoints: every row of a conversation, as arrays without pages (3.1, 3.2)."""

import uuid
from typing import Any

from audit import queries
from audit.expand import Event, expanded
from audit.models import CeAudit
from audit.timeline import frames
from convengine.codec import dumps

Json = dict[str, Any]
#: Rows of one answer, which has no pages.
MOST = 20_000


def raw(conversation_id: uuid.UUID) -> list[Json]:
    """All events in ascending `created_at`, payloads as JSON text; events outside of turns too."""
    return [
        {
            "auditId": event.row.audit_id,
            "conversationId": str(conversation_id),
            "stage": event.row.stage,
            "payloadJson": dumps(event.payload),
            "createdAt": event.row.created_at.isoformat(),
        }
        for event in _events(conversation_id)
    ]


def trace(conversation_id: uuid.UUID) -> Json:
    """Steps with their stages, and all stages flat."""
    events = _events(conversation_id)
    return {
        "conversationId": str(conversation_id),
        "steps": [
            {**step, "stages": [_short(stage) for stage in step["stages"]]}
            for step in (frame.as_json() for frame in frames(events))
        ],
        "stages": [
            {
                "auditId": event.row.audit_id,
                "stage": event.row.stage,
                "createdAt": event.row.created_at.isoformat(),
                "payload": event.payload,
            }
            for event in events
        ],
    }


def _short(stage: Json) -> Json:
    return {name: stage[name] for name in ("auditId", "stage", "createdAt", "payload")}


def _events(conversation_id: uuid.UUID) -> list[Event]:
    """Whole events by time; of one moment, in the order in which they were told."""
    inside = queries.page(conversation_id, queries.EventFilter(), None, MOST).rows
    outside = CeAudit.objects.filter(conversation_id=conversation_id, turn_no=None).order_by("audit_id")[:MOST]
    events = [*expanded(inside), *(event for row in outside for event in expanded([row]))]
    # A sort keeps the order of what has the same time.
    return sorted(events, key=lambda event: event.row.created_at)[:MOST]
