"""The seal of a turn's record: made in the commit, and made again of what is stored by whoever looks for changes."""

import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from convengine.codec import in_order
from convengine.domain.chain import GENESIS, SALT, WORDS, Batch, Pieces, Seal, collected
from convengine.domain.text import storable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: Columns of a turn record that stay when its words are erased. Not among them: `modified_at`, which the database sets,
#: and the explainability log, which is trimmed.
FRAME = (
    *("conversation_id", "turn_id", "turn_no", "created_at", "status", "source", "error_code", "intent_code"),
    *("state_code", "config_version", "duration_ms", "context_epoch", "replayable", "audit_incomplete"),
)
#: Columns that tell what was said. The documents are hashed as any database gives them back.
SAID = ("user_input", "error_message", "replay_note")
DOCUMENTS = ("assistant_output", "facts")


class Sealed(NamedTuple):
    """A seal as it is stored, and its hash, which the next one holds."""

    data: bytes
    hash: bytes


def frame(record: Mapping[str, Any]) -> bytes:
    """What stays of a turn record, as bytes; by the names of its columns."""
    return orjson.dumps([_plain(record[name]) for name in FRAME])


def words(record: Mapping[str, Any], documents: Sequence[bytes]) -> list[bytes]:
    """What was said, in pieces; `documents` are DOCUMENTS as they are hashed."""
    said = [(name, orjson.dumps(_plain(record.get(name)))) for name in SAID]
    known = [*said, *zip(DOCUMENTS, documents, strict=True)]
    # The last one may hold line breaks.
    return [*(b"%b %b" % (name.encode(), text) for name, text in known), b"recording " + (record["recording"] or b"")]


def sealed(previous: bytes | None, record: Mapping[str, Any], last_seq: int, pieces: Pieces) -> Sealed:
    """A new seal over a turn record and what else the turn left; `pieces` has the record's words too."""
    seal = Seal.over(previous or GENESIS, last_seq, pieces, os.urandom(SALT))
    return Sealed(seal.packed(), seal.hash(frame(record)))


def sealed_turn(
    previous: bytes | None, record: Mapping[str, Any], documents: Sequence[bytes], batches: Iterable[Batch]
) -> Sealed:
    """The seal of a turn that was stored in these batches."""
    last_seq, pieces = collected(batches)
    return sealed(previous, record, last_seq, {**pieces, WORDS: words(record, documents)})


def documents_of(record: Mapping[str, Any]) -> Sequence[bytes]:
    """DOCUMENTS of a stored record as they are hashed."""
    return in_order([record[name] for name in DOCUMENTS])[1]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    return str(value) if isinstance(value, uuid.UUID) else value
