"""The original's answers on the audit endpoints: every row of a conversation, as arrays without pages."""

import uuid
from typing import Any

from audit.record import queries
from audit.record.events import Event, expand_events
from audit.record.trace import build_steps, describe_stage, group_events
from convengine.engine.turn.codec import dumps

Json = dict[str, Any]
#: Maximum rows of one answer.
MAX_EVENTS = 20_000


def list_raw_events(conversation_id: uuid.UUID) -> list[Json]:
    """At most MAX_EVENTS events in ascending `created_at`, payloads as JSON text; including events outside of turns."""
    return [
        {
            "auditId": event.row.audit_id,
            "conversationId": str(conversation_id),
            "stage": event.row.stage,
            "payloadJson": dumps(event.payload),
            "createdAt": event.row.created_at.isoformat(),
        }
        for event in _read_events(conversation_id)
    ]


def build_original_trace(conversation_id: uuid.UUID) -> Json:
    """Steps with their stages, turn by turn, and all stages flat."""
    events = _read_events(conversation_id)
    steps = [step for of_turn in group_events(events).values() for step in build_steps(of_turn)]
    return {
        "conversationId": str(conversation_id),
        "steps": [{**step, "stages": [_trim_stage(stage) for stage in step["stages"]]} for step in steps],
        "stages": [_trim_stage(describe_stage(event)) for event in events],
    }


def _trim_stage(stage: Json) -> Json:
    return {name: stage[name] for name in ("auditId", "stage", "createdAt", "payload")}


def _read_events(conversation_id: uuid.UUID) -> list[Event]:
    """Whole events by time; simultaneous ones in the order of writing."""
    inside = queries.read_page(conversation_id, queries.EventFilter(), MAX_EVENTS).rows
    events = [*expand_events(inside), *queries.expand_outside(conversation_id, queries.EventFilter())]
    # The sort is stable.
    return sorted(events, key=lambda event: event.row.created_at)[:MAX_EVENTS]
