"""One turn as steps with their stages, for its own address and for the answer of a turn (api-and-audit 1.2, 3.2)."""

import uuid
from typing import Any

from audit import queries
from audit.expand import expanded
from audit.timeline import trace


def turn_trace(conversation_id: uuid.UUID, turn_no: int) -> dict[str, Any] | None:
    """The turn in the shape of a conversation's trace; null when neither an event of it is stored nor its record."""
    rows, records = queries.whole_turns(conversation_id, [turn_no]), queries.records(conversation_id, [turn_no])
    if not rows and not records:
        return None
    return {**trace(str(conversation_id), expanded(rows), records), "previous": None}
