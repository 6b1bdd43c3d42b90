"""The record of turns as readers see it, and rows of it made by hand."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from audit.models import CeTurnIndex
from audit.record.events import StoredEvent, parse_entries, read_events
from audit.record.turn_index import list_index_entries
from convengine.engine.turn.codec import dumps
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.database import allow_forging

Json = dict[str, Any]


def events(stage: str | None = None, **wanted: Any) -> list[StoredEvent]:
    """The events of the turns that fit, in order; with `stage`, only those of this stage."""
    rows = CeConversationHistory._base_manager.filter(turn_no__isnull=False, **wanted)
    stored = read_events(rows.order_by("conversation_id", "turn_no", "history_id"))
    return [event for event in stored if stage in (None, event.stage)]


def entry(seq: int, stage: str, payload: Json | None = None, **more: Any) -> Json:
    """One entry of a document."""
    return {"seq": seq, "stage": stage, "step": None, "ms": 0, "payload": payload or {}, **more}


def call(**values: Any) -> Json:
    """A model call, as documents store it."""
    usual = {
        "no": 1,
        "created_at": timezone.now().isoformat(),
        "intent_code": "UNKNOWN",
        "state_code": "UNKNOWN",
        "provider": "UNKNOWN",
        "model": "UNKNOWN",
        "temperature": None,
        "prompt_text": "?",
        "user_context": "{}",
        "response_text": None,
        "success": True,
        "error_message": None,
        "purpose": None,
        "attempt": 1,
        "latency_ms": 1,
        "input_tokens": None,
        "output_tokens": None,
        "cost": None,
        "template_id": None,
    }
    return usual | values


def store_turn(
    conversation: CeConversation, entries: Sequence[Json] = (), at: datetime | None = None, **values: Any
) -> CeConversationHistory:
    """A turn with these events, and its index; without a seal."""
    calls = [made for one in entries for made in one.get("calls", ())]
    costs = [made["cost"] for made in calls if made["cost"] is not None]
    last = CeConversationHistory.objects.filter(conversation=conversation).order_by("-turn_no").first()
    usual = {
        "turn_no": (last.turn_no if last else 0) + 1,
        "turn_id": uuid.uuid4(),
        "created_at": at or timezone.now(),
        "config_version": 1,
        "last_seq": max((one["seq"] for one in entries), default=0),
        "model_calls": len(calls),
        "cost": sum(costs) if costs else None,
    }
    row = CeConversationHistory.objects.create(conversation=conversation, events=dumps(entries), **usual | values)
    CeTurnIndex.objects.bulk_create(
        CeTurnIndex(turn_id=row.turn_id, at=row.created_at, kind=kind, value=value, role=role)
        for kind, value, role in list_index_entries(entries)
    )
    return row


def add_outside(conversation: CeConversation, stage: str, payload: Json, **values: Any) -> CeConversationHistory:
    """An event outside of turns, or with a turn's number and id, a later one of it."""
    usual = {"source": "ADDITION", "status": "ADDITION", "turn_id": None, "turn_no": None, "config_version": 1}
    entries = [entry(values.pop("seq", 1), stage, payload)]
    made = usual | {"last_seq": entries[0]["seq"]} | values
    return CeConversationHistory.additions.create(conversation=conversation, events=dumps(entries), **made)


def add_to_turn(conversation_id: Any, turn_no: int, *more: tuple[str, Json]) -> CeConversationHistory:
    """Let a stored turn have more events at its end. Its seal does not know them."""
    row = CeConversationHistory.objects.get(conversation_id=conversation_id, turn_no=turn_no)
    entries = parse_entries(row.events) or []
    entries += [entry(seq, stage, payload) for seq, (stage, payload) in enumerate(more, start=row.last_seq + 1)]
    with allow_forging("ce_conversation_history"):
        CeConversationHistory.objects.filter(pk=row.pk).update(events=dumps(entries), last_seq=entries[-1]["seq"])
    CeTurnIndex.objects.bulk_create(
        CeTurnIndex(turn_id=row.turn_id, at=row.created_at, kind=CeTurnIndex.STAGE, value=stage, role="")
        for stage, _ in more
    )
    return row


def change_entries(conversation_id: Any, turn_no: int, change: Any) -> None:
    """Replace the entries of a turn by what `change` makes of them, as somebody with SQL could."""
    row = CeConversationHistory.objects.get(conversation_id=conversation_id, turn_no=turn_no)
    with allow_forging("ce_conversation_history"):
        CeConversationHistory.objects.filter(pk=row.pk).update(events=dumps(change(parse_entries(row.events) or [])))


def change_payload(conversation_id: Any, turn_no: int, seq: int, **values: Any) -> None:
    """Change the payload of one event."""

    def change(entries: list[Json]) -> list[Json]:
        return [{**one, "payload": {**one["payload"], **values}} if one["seq"] == seq else one for one in entries]

    change_entries(conversation_id, turn_no, change)
