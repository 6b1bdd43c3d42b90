"""A row of the record, read from its sealed bytes alone."""

import base64
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Self

from audit import seal as seals
from audit.record.document import list_deciding_rows
from audit.record.document_parts import encode_stored_document
from audit.record.events import Event, StoredEvent, expand_events, list_events, read_document
from audit.seal import HEADER, WORDS, Parts, Seal
from convengine.engine.cached_property import cached_property
from convengine.json_value import Json
from convengine.server.sessions.models import ADDITION

_CUTS = {
    seals.STEPS: "starts and ends of steps",
    seals.PROMPTS: "prompts",
    seals.CALLS: "model calls",
    seals.CONTENTS: "events and recording",
    seals.ERASED: "all words, by an erasure",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class SealedRow:
    """A row with its seal. The sealed bytes are the source of everything else."""

    header: str
    words: str
    events: str
    recording: bytes
    seal_text: str
    #: The sealed columns, and the two JSON columns.
    columns: Mapping[str, Json]
    answer: Json
    facts: Json

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Self:
        """A row of a file. Raises ValueError or LookupError for other data, and TypeError for values of other types."""
        header, words = record["header"], record["words"]
        texts, answer, facts = map(json.loads, words.split("\n")) if words else (dict.fromkeys(WORDS), None, None)
        values = [*json.loads(header), *texts]
        if len(values) != len(HEADER + WORDS):
            raise ValueError("Its turns have other columns: another version of the product made it.")
        columns = dict(zip(HEADER + WORDS, values, strict=True))
        recording = base64.b64decode(record["recording"], validate=True)
        return cls(header, words, record["events"], recording, record["seal"], columns, answer, facts)

    @property
    def conversation_id(self) -> str:
        return str(self.columns["conversation_id"])

    @property
    def turn_no(self) -> int | None:
        number: int | None = self.columns["turn_no"]
        return number

    @property
    def config_version(self) -> int:
        return int(self.columns["config_version"] or 0)

    @property
    def is_addition(self) -> bool:
        """True for what was stored after a turn, or outside of turns."""
        return bool(self.columns["source"] == ADDITION)

    @property
    def created_at(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self.columns["created_at"])

    @cached_property
    def seal(self) -> Seal | None:
        """The seal. Returns None if the bytes are not a seal."""
        try:
            return Seal.read(bytes.fromhex(self.seal_text))
        except ValueError:
            return None

    @property
    def hash(self) -> str:
        """The hash of the seal, which the next seal covers; blank without a readable seal."""
        return self.seal.hash.hex() if self.seal else ""

    @property
    def cuts(self) -> list[str]:
        """What was removed after the row was sealed, in words."""
        return [name for bit, name in _CUTS.items() if self.seal and self.seal.cuts & bit]

    @cached_property
    def entries(self) -> Sequence[dict[str, Json]]:
        """The entries of the document of events."""
        return read_document(self.events)

    @property
    def deciding_rows(self) -> list[tuple[str, str, str]]:
        return list_deciding_rows(self.entries)

    def encode(self, content_hash: str) -> Parts:
        """The sealed bytes, with the content hash of the release."""
        header, words, events = (
            text.encode("utf-8", "surrogatepass") for text in (self.header, self.words, self.events)
        )
        document = encode_stored_document(self.events or None)
        return Parts(header, words, events, self.recording, content_hash.encode(), document)

    def list_events(self) -> list[StoredEvent]:
        """The events of this row alone, as they are stored: references to the session are not resolved."""
        turn_id = self.columns["turn_id"]
        row = SimpleNamespace(
            conversation_id=uuid.UUID(self.conversation_id),
            turn_id=uuid.UUID(turn_id) if turn_id else None,
            turn_no=self.turn_no,
            config_version=self.config_version,
            created_at=self.created_at,
        )
        return list(list_events(row, self.entries))


def select_turn_rows(turn: SealedRow, rows: Iterable[SealedRow]) -> list[SealedRow]:
    """The row of a turn, and what was added to it later."""
    key = turn.conversation_id, turn.turn_no
    return [turn, *(row for row in rows if row.is_addition and (row.conversation_id, row.turn_no) == key)]


def list_turn_events(rows: Iterable[SealedRow]) -> list[Event]:
    stored = [event for row in rows for event in row.list_events()]
    return list(expand_events(sorted(stored, key=lambda event: event.seq)))
