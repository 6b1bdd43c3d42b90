"""What a conversation was about, for the customer: what was said, understood and done, without internals."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format

from audit.narration.reading import Role, read_message_of_turn
from audit.record.events import Event, expand_events
from audit.record.queries import read_turns
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.row_names import name_row
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_REJECTED,
)
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stages import DECISION
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory

_OUTCOMES: Mapping[str, str] = {
    PENDING_ACTION_EXECUTED: "Done",
    PENDING_ACTION_FAILED: "Tried, but it failed",
    PENDING_ACTION_REJECTED: "Not done, as you said",
}


def write_customer_copy(records: Sequence[CeConversationHistory]) -> str:
    """The turns of a conversation as plain text, with a blank line between two."""
    if not records:
        return ""
    events: defaultdict[int | None, list[Event]] = defaultdict(list)
    for event in expand_events(read_turns(records[0].conversation_id, [record.turn_no for record in records])):
        events[event.row.turn_no].append(event)
    return "\n\n".join("\n".join(_describe_turn(record, events[record.turn_no])) for record in records)


def _describe_turn(record: CeConversationHistory, events: Sequence[Event]) -> Iterator[str]:
    snapshot: Snapshot = configuration().at(record.config_version or 0)
    yield date_format(timezone.localtime(record.created_at), "j F Y, H:i")
    yield f"You: {record.user_input or '–'}"
    if understood := _list_understood(record, events, snapshot):
        yield f"We understood: {'; '.join(understood)}"
    yield f"Answer: {answer_text(record.assistant_output) or '–'}"
    chosen: Any = None
    for event in events:
        if event.name == DECISION and event.payload.get("kind") == DecisionKind.PENDING_ACTION:
            chosen = event.payload.get("winner")
        elif event.name in _OUTCOMES:
            row = snapshot.row(rows.PendingAction, chosen)
            yield f"{_OUTCOMES[event.name]}: {name_row(rows.PendingAction.table, row) if row else 'an action'}"


def _list_understood(record: CeConversationHistory, events: Sequence[Event], snapshot: Snapshot) -> list[str]:
    """The subject where it changed, and the values that the message gave or was asked about."""
    before = next((event.payload.get("intent") for event in events if event.name == CONVERSATION_LOADED), None)
    is_new = record.intent_code not in (None, UNKNOWN, before)
    subject = [get_intent_name(snapshot, record.intent_code)] if is_new else []
    reading = read_message_of_turn(events, record.user_input, snapshot)
    labels = {Role.TAKEN: "", Role.OFFERED: "perhaps "}
    values = [item for item in reading.values if item.role in labels] if reading else []
    return [*subject, *(f"{labels[item.role]}{item.title}: {item.value or item.text}" for item in values)]
