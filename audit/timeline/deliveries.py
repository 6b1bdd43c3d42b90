"""What became of the answers that went to a channel."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.server.admin_site.record_columns import current_redaction
from convengine.server.channels.models import CeChannelMessage
from convengine.server.jobs.outbox import OutboxStatus

#: The best first.
_STATES = ("read", "delivered", "sent", "waiting", "failed")
_STATES_BY_STATUS: Mapping[str, str] = {OutboxStatus.PENDING: "waiting", OutboxStatus.FAILED: "failed"}


@dataclass(frozen=True)
class Delivery:
    """The state of an answer, and the error of the last attempt to send it."""

    state: str
    error: str = ""


def read_deliveries(conversation_id: uuid.UUID, turn_ids: Collection[uuid.UUID]) -> dict[Any, Delivery]:
    """What became of the answer of each turn that sent one: the worst of its messages. One query."""
    rows = CeChannelMessage.objects.filter(conversation_id=str(conversation_id), turn_id__in=turn_ids)
    worst: dict[Any, Delivery] = {}
    for row in rows.order_by("pk").only("turn_id", "status", "receipt", "error"):
        state = _STATES_BY_STATUS.get(row.status) or row.receipt or "sent"
        before = worst.get(row.turn_id)
        if before is None or _STATES.index(state) > _STATES.index(before.state):
            worst[row.turn_id] = Delivery(state, current_redaction().text(row.error) if row.error else "")
    return worst
