"""What a page needs to follow a conversation."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from audit.live.hub import hub
from audit.live.place import END, Place
from convengine import conf


def shown(conversation_id: uuid.UUID, turns: Sequence[Any]) -> dict[str, Any]:
    """Where the stream is, and from where on the page wants it; blank where this deployment serves no streams."""
    served = hub.served or conf.get("STREAMS_URL")
    last = turns[-1].turn_no if turns else 0
    return {
        "stream_url": reverse("stream", args=[conversation_id]) if served else "",
        "live_after": Place(last, END if last else 0),
        "live_last": last,
    }
