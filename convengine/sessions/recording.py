"""The recording of a turn: everything that it read and was answered, enough to run it again (R32, law 3)."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from convengine.codec import dumps, loads, packed, unpacked
from convengine.domain.conversation import Conversation, Loaded
from convengine.domain.recording import Recording
from convengine.domain.redaction import mentions, redacted
from convengine.domain.session import Exchange
from convengine.domain.turn import Turn, TurnRequest

_FORMAT = 1


@dataclass(frozen=True)
class Recorded:
    """A recording, read back."""

    turn_id: str
    turn_no: int
    config_version: int
    now: datetime
    request: TurnRequest
    loaded: Loaded
    tape: list[list[Any]]


def record(turn: Turn, tape: Recording, redact_keys: Set[str]) -> tuple[bytes, str | None]:
    """The turn's recording as compressed bytes, and why it cannot be replayed, if redaction took something."""
    document = {
        "format": _FORMAT,
        "turn": {
            "id": turn.turn_id,
            "no": turn.turn_no,
            "configVersion": turn.snapshot.config_version,
            "now": turn.ports.clock.now().isoformat(),
        },
        "request": turn.request,
        "loaded": turn.ports.conversations.load(),
        "tape": tape.entries,
    }
    text = dumps(document)
    if not mentions(text, redact_keys):
        return packed(text), None
    masked = redacted(loads(text), redact_keys)
    note = None if masked == loads(text) else "REDACT_KEYS masked a part of what the turn read or was answered."
    return packed(dumps(masked)), note


def restore(data: bytes | memoryview) -> Recorded:
    """Read a recording back. Raises ValueError for one of another format."""
    document = unpacked(data)
    if document.get("format") != _FORMAT:
        raise ValueError(f"This recording has format {document.get('format')!r}; this version reads {_FORMAT}.")
    turn, request, loaded = document["turn"], document["request"], document["loaded"]
    row = loaded["conversation"]
    if row.get("created_at"):
        row["created_at"] = datetime.fromisoformat(row["created_at"])
    return Recorded(
        turn["id"],
        turn["no"],
        turn["configVersion"],
        datetime.fromisoformat(turn["now"]),
        TurnRequest(**{**request, "ignored_params": tuple(request["ignored_params"])}),
        Loaded(
            Conversation(**row),
            tuple(Exchange(*exchange) for exchange in loaded["history"]),
            loaded["previous_turn"],
            loaded["memory_recall"],
            loaded["created"],
        ),
        document["tape"],
    )
