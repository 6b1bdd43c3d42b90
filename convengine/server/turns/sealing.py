"""The seal of a turn's record: made in the commit, and computed again from stored data by checks."""

import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.seal import GENESIS, SALT, WORDS, Batch, Pieces, Seal, collect_pieces

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: Columns of a turn record that stay after an erasure. Not included: `modified_at`, which the database sets, and the
#: explainability log, which is trimmed.
FRAME = (
    *("conversation_id", "turn_id", "turn_no", "created_at", "status", "source", "error_code", "intent_code"),
    *("state_code", "config_version", "duration_ms", "context_epoch", "replayable", "audit_incomplete"),
)
#: Columns with words of the turn. Documents are hashed as any database returns them.
SAID = ("user_input", "error_message", "replay_note")
DOCUMENTS = ("assistant_output", "facts")


class NewSeal(NamedTuple):
    """A stored seal, and its hash for the next one."""

    data: bytes
    hash: bytes


def encode_frame(record: Mapping[str, Any]) -> bytes:
    """The permanent part of a turn record as bytes, by column name."""
    return orjson.dumps([_plain(record[name]) for name in FRAME])


def encode_words(record: Mapping[str, Any], documents: Sequence[bytes]) -> list[bytes]:
    """The words of the turn, in pieces; `documents` are DOCUMENTS in hashed form."""
    said = [(name, orjson.dumps(_plain(record.get(name)))) for name in SAID]
    known = [*said, *zip(DOCUMENTS, documents, strict=True)]
    # The last piece may contain line breaks.
    return [*(b"%b %b" % (name.encode(), text) for name, text in known), b"recording " + (record["recording"] or b"")]


def make_seal(previous: bytes | None, record: Mapping[str, Any], last_seq: int, pieces: Pieces) -> NewSeal:
    """A new seal over a turn record and the turn's other data; `pieces` includes the record's words."""
    seal = Seal.create(previous or GENESIS, last_seq, pieces, os.urandom(SALT))
    return NewSeal(seal.to_bytes(), seal.hash(encode_frame(record)))


def make_turn_seal(
    previous: bytes | None, record: Mapping[str, Any], documents: Sequence[bytes], batches: Iterable[Batch]
) -> NewSeal:
    """The seal of a turn that was stored in these batches."""
    last_seq, pieces = collect_pieces(batches)
    return make_seal(previous, record, last_seq, {**pieces, WORDS: encode_words(record, documents)})


def encode_documents(record: Mapping[str, Any]) -> Sequence[bytes]:
    """DOCUMENTS of a stored record in hashed form."""
    return dump_in_order([record[name] for name in DOCUMENTS])[1]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    return str(value) if isinstance(value, uuid.UUID) else value
