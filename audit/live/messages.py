"""The messages of streams: the positions of their readers, envelopes as JSON text, and frames."""

import re
from datetime import datetime
from typing import NamedTuple, Self

from audit.record.events import Event
from convengine.engine.pipeline.stages import TURN_FAILED
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.verbose import VerboseLine
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory

#: The number after all events of an ended turn.
END = 999_999
_TEXT = re.compile(r"^(\d{1,9})\.(\d{1,6})(?:\.(\d{1,18}))?$")


class StreamCursor(NamedTuple):
    """A position after an event: `turnNo.seq`, and after the last event outside of turns, if any.

    Events outside of turns (a session that timed out, feedback) and a model's writing after the answer have an order of
    their own, so that the order of two commits does not matter.
    """

    turn_no: int
    seq: int
    #: `audit_id` of the last of those other events.
    beside: int = 0

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The position of an id. Returns None for a text that is not an id."""
        match = _TEXT.match(text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

    def advance(self, other: Self) -> Self:
        """The position after both; the same one if `other` was passed."""
        return type(self)(*max(self[:2], other[:2]), max(self.beside, other.beside))

    def __str__(self) -> str:
        beside = f".{self.beside}" if self.beside else ""
        return f"{self.turn_no}.{self.seq}{beside}"


AUDIT, VERBOSE = "AUDIT", "VERBOSE"
#: Names that are no stages.
CONNECTED, CLOSED = "CONNECTED", "STREAM_CLOSED"


def encode_event(event: Event) -> str:
    """The envelope of an audit event. `auditId` is null until the event is stored."""
    row = event.row
    turn_id = str(row.turn_id) if row.turn_id else None
    more = {"auditId": row.audit_id, "seq": row.seq, "configVersion": row.config_version}
    return _encode(AUDIT, row.stage, row.created_at, event.payload, turn_id, row.turn_no, **more)


def encode_failure(turn: CeConversationHistory) -> str:
    """The envelope that ends a failed or interrupted turn, behind its events."""
    why = {
        "turnNo": turn.turn_no,
        "status": turn.status,
        "errorCode": turn.error_code,
        "message": turn.error_message,
    }
    more = {"seq": None, "configVersion": None}
    return _encode(AUDIT, TURN_FAILED, turn.modified_at, why, str(turn.turn_id), turn.turn_no, **more)


def encode_progress(line: VerboseLine, turn_id: str, turn_no: int, at: datetime) -> str:
    progress = line.as_json()
    return _encode(VERBOSE, VERBOSE, at, {"verbose": progress}, turn_id, turn_no, verbose=progress)


def _encode(
    kind: str, stage: str, at: datetime | None, payload: Json, turn_id: str | None, turn_no: int | None, **more: Json
) -> str:
    envelope = {
        "eventType": kind,
        "auditId": None,
        "stage": stage,
        "createdAt": at.isoformat() if at else None,
        "payload": payload,
        "verbose": None,
        "turnId": turn_id,
        "turnNo": turn_no,
    }
    return dumps(envelope | more)


def encode_frame(name: str, data: str, cursor: object = None) -> bytes:
    """One message of a stream. JSON text has no line breaks of its own."""
    number = f"id: {cursor}\n" if cursor is not None else ""
    return f"{number}event: {name}\ndata: {data}\n\n".encode()
