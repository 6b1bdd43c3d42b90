"""Sessions of threads, as they stand in the table."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation

CHANNEL = "whatsapp"


def session(idle: timedelta = timedelta(0), now: datetime | None = None, **values: Any) -> CeConversation:
    """A session of a thread of its own, whose last message came so long ago."""
    key, at = uuid.uuid4(), (now or database_time()) - idle
    defaults = {
        "channel": CHANNEL,
        "remote_jid": str(key),
        "last_message_at": at,
        "updated_at": at,
        "created_at": at,
        "last_turn_no": 3,
        "turn_count": 3,
        "context_summary": "GOAL: Cancel the order\nENTITIES: A-1007\nDECISIONS: none\nPENDING: none\nTURNS: 3",
    }
    return CeConversation.objects.create(conversation_id=key, **{**defaults, **values})
