"""The messages of streams: as sent to readers, and between processes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.record.events import Event
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.verbose import VerboseLine

Json = Any
AUDIT, VERBOSE = "AUDIT", "VERBOSE"
#: Names that are no stages.
CONNECTED, CLOSED = "CONNECTED", "STREAM_CLOSED"


@dataclass(frozen=True)
class StreamMessage:
    """A progress text of a running turn for readers."""

    conversation_id: str
    name: str
    #: The envelope as JSON text.
    data: str

    def pack(self, sender: str) -> str:
        """The message for the bus."""
        return dumps([sender, self.conversation_id, self.name, self.data])

    @staticmethod
    def unpack(text: str | bytes) -> tuple[str, "StreamMessage"]:
        """The sender and the message. Raises ValueError, TypeError for an invalid one."""
        sender, *values = loads(text)
        return str(sender), StreamMessage(*values)


def encode_event(event: Event) -> str:
    """The envelope of an audit event. `auditId` is null until the event is stored."""
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


def encode_failure(turn_no: int, turn_id: str | None, at: datetime | None, why: Mapping[str, Json]) -> str:
    """The envelope for a turn whose events were not committed."""
    return dumps(
        {
            "eventType": AUDIT,
            "auditId": None,
            "stage": TURN_FAILED,
            "createdAt": at.isoformat() if at else None,
            "payload": dict(why),
            "verbose": None,
            "turnId": turn_id,
            "turnNo": turn_no,
            "seq": None,
            "configVersion": None,
        }
    )


def encode_progress(line: VerboseLine, turn_id: str, turn_no: int, at: datetime) -> str:
    """The envelope of a progress text."""
    progress = line.as_json()
    return dumps(
        {
            "eventType": VERBOSE,
            "auditId": None,
            "stage": VERBOSE,
            "createdAt": at.isoformat(),
            "payload": {"verbose": progress},
            "verbose": progress,
            "turnId": turn_id,
            "turnNo": turn_no,
        }
    )


def encode_frame(name: str, data: str, cursor: object = None) -> bytes:
    """One message of a stream. JSON text has no line breaks of its own."""
    number = f"id: {cursor}\n" if cursor is not None else ""
    return f"{number}event: {name}\ndata: {data}\n\n".encode()
