"""What streams carry: an event as it goes over the wire, and as it goes from the process that runs the turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.expand import Event
from convengine.codec import dumps, loads
from convengine.domain.stages import Stage
from convengine.domain.verbose import VerboseLine

Json = Any
AUDIT, VERBOSE = "AUDIT", "VERBOSE"
#: Names that are no stages.
CONNECTED, CLOSED = "CONNECTED", "STREAM_CLOSED"


@dataclass(frozen=True)
class News:
    """Something that happened in a turn that runs, on its way to whoever watches."""

    conversation_id: str
    name: str
    #: The envelope as JSON text.
    data: str
    turn_no: int = 0
    seq: int = 0
    #: The event of the turn before this one, as far as the audit takes them; 0 for the first.
    previous: int = 0

    @property
    def is_event(self) -> bool:
        """True for an event of the trail; progress lines have no number and are told once."""
        return self.seq > 0

    def packed(self, sender: str) -> str:
        """As it goes over a bus."""
        return dumps([sender, self.conversation_id, self.name, self.data, self.turn_no, self.seq, self.previous])

    @staticmethod
    def unpacked(text: str | bytes) -> tuple[str, "News"]:
        """Who sent it, and what. Raises ValueError, TypeError for what is no news."""
        sender, *values = loads(text)
        return str(sender), News(*values)


def audit_data(event: Event) -> str:
    """The envelope of an event of the trail. `auditId` is null until the event is stored."""
    row = event.row
    return dumps(
        {
            "eventType": AUDIT,
            "auditId": row.audit_id,
            "stage": row.stage,
            "createdAt": row.created_at.isoformat(),
            "payload": event.payload,
            "verbose": None,
            "turnId": str(row.turn_id) if row.turn_id else None,
            "turnNo": row.turn_no,
            "seq": row.seq,
            "configVersion": row.config_version,
        }
    )


def failed_data(turn_no: int, turn_id: str | None, at: datetime | None, why: Mapping[str, Json]) -> str:
    """The envelope that says of a turn: what you saw of it was not committed."""
    return dumps(
        {
            "eventType": AUDIT,
            "auditId": None,
            "stage": Stage.TURN_FAILED.value,
            "createdAt": at.isoformat() if at else None,
            "payload": dict(why),
            "verbose": None,
            "turnId": turn_id,
            "turnNo": turn_no,
            "seq": None,
            "configVersion": None,
        }
    )


def verbose_data(line: VerboseLine, turn_id: str, turn_no: int, at: datetime) -> str:
    """The envelope of a progress line."""
    told = line.as_json()
    return dumps(
        {
            "eventType": VERBOSE,
            "auditId": None,
            "stage": VERBOSE,
            "createdAt": at.isoformat(),
            "payload": {"verbose": told},
            "verbose": told,
            "turnId": turn_id,
            "turnNo": turn_no,
        }
    )


def frame(name: str, data: str, place: object = None) -> bytes:
    """One message of a stream. JSON text has no line breaks of its own."""
    number = f"id: {place}\n" if place is not None else ""
    return f"{number}event: {name}\ndata: {data}\n\n".encode()
