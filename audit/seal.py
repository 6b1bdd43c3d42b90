"""The seal of a row of the record: one hash over the seal before it, the release, and the whole row.

`hash` never changes: the next seal covers it. It covers the row twice: as one hash, which is fast to verify, and as a
salted hash of each part that may be removed later. A removal replaces the salt of its part by the hash of the part. So
what remains is verified with the same `hash`, and nobody finds out by trying what was removed. Nothing here is secret:
a person who may write to the database could make another chain; the ledger and an anchor elsewhere reveal that.
"""

import hashlib
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import orjson

from convengine.engine.turn.codec import dump_in_order
from convengine.server.database.signed_rows import encode_value

#: The hash before the first seal of a conversation.
GENESIS = bytes(32)
_VERSION = 3
_PURPOSE = b"convengine record 3\n"
#: The parts of a row. The four between words and recording are those of its events.
PARTS = ("header", "words", "events", "steps", "prompts", "calls", "recording")
#: Where a part is, for findings.
_AREAS = ("header", "header", "events", "events", "events", "events", "recording")
#: What may be removed from a sealed row, as bits of `cuts`, and the parts that go with it.
STEPS, PROMPTS, CALLS, CONTENTS, ERASED = 1, 2, 4, 8, 16
_REMOVED_PARTS = {
    STEPS: ("steps",),
    PROMPTS: ("prompts",),
    CALLS: ("calls",),
    CONTENTS: PARTS[2:],
    ERASED: PARTS[1:],
}
_REMOVABLE = sum(_REMOVED_PARTS)
#: Bytes of a salt and of the hash of a part; bytes of this hash that tell which part was changed.
_SIZE, _CHECK = 16, 4
_HEAD = struct.Struct(">BB32s32s32s")
#: The sealed columns that no removal changes; not `modified_at`, which the database sets.
HEADER = (
    *("conversation_id", "turn_id", "turn_no", "created_at", "status", "source", "error_code"),
    *("intent_before", "state_before", "intent_code", "state_code", "config_version", "duration_ms", "cost"),
    *("model_calls", "last_seq", "index_hash", "context_epoch", "replayable", "audit_incomplete"),
)
#: The sealed columns that an erasure empties.
WORDS = ("user_input", "error_message", "replay_note")
#: JSON columns among the words, sealed in the form in which any database returns them.
JSON_COLUMNS = ("assistant_output", "facts")
#: How JSON writes the character that no database accepts.
_NUL = b"\\u0000"
_NO_WORDS, _NO_DOCUMENTS = [None] * len(WORDS), [b"null"] * len(JSON_COLUMNS)
SEALED = (*HEADER, *WORDS, *JSON_COLUMNS, "events", "recording")


class Parts(NamedTuple):
    """The sealed bytes of a row. What is empty has no bytes."""

    header: bytes
    words: bytes
    #: The events as they are stored.
    events: bytes
    recording: bytes
    #: The content hash of the release.
    release: bytes = b""
    #: The events once more, by the parts that may be removed.
    document: Sequence[bytes] = ()

    @property
    def removable(self) -> Sequence[bytes]:
        return self.header, self.words, *self.document, self.recording


@dataclass(frozen=True)
class Seal:
    #: The hash of the seal before this one.
    previous: bytes
    hash: bytes
    #: The beginning of the hash of each part, to tell which of them was changed.
    checks: bytes
    #: The salt of the row, from which those of its parts follow. Blank once a part was removed.
    salt: bytes
    #: The hash over the hashes of the parts; of a row without a part, the hash over the whole row.
    other: bytes
    #: Of a row without a part: the salt of each part, or its hash if it was removed.
    slots: tuple[bytes, ...] = ()
    cuts: int = 0

    @classmethod
    def create(cls, previous: bytes | None, parts: Parts) -> Self:
        salt, before = os.urandom(_SIZE), previous or GENESIS
        hashes = _hash_parts(derive_salts(salt), parts)
        root = _hash_all(hashes)
        own = _hash_row(before, parts.release, _hash_whole(salt, parts), root)
        return cls(before, own, _shorten(hashes), salt, root)

    def cut(self, kind: int, parts: Parts) -> "Seal":
        """The seal after a removal; `parts` are those before it."""
        whole = self.other if self.cuts else _hash_whole(self.salt, parts)
        salts = self.slots or derive_salts(self.salt)
        gone, known = list_removed(kind) - list_removed(self.cuts), _hash_parts(salts, parts)
        slots = [known[at] if name in gone else salts[at] for at, name in enumerate(PARTS)]
        return replace(self, salt=b"", other=whole, slots=tuple(slots), cuts=self.cuts | kind)

    def matches(self, parts: Parts) -> bool:
        """True when nothing was changed, except for removed parts. `parts.document` matters only if something was."""
        if not self.cuts:
            whole, root = _hash_whole(self.salt, parts), self.other
        else:
            whole, root = self.other, _hash_all(self._hash_present(parts))
        return self.hash == _hash_row(self.previous, parts.release, whole, root)

    def differing(self, parts: Parts) -> list[str]:
        """Which of header, events and recording differ; none if it is the release or the seal itself."""
        present = _split(_shorten(self._hash_present(parts)), _CHECK)
        checks = zip(_AREAS, present, _split(self.checks, _CHECK), strict=True)
        return list(dict.fromkeys(area for area, now, sealed in checks if now != sealed))

    def to_bytes(self) -> bytes:
        head = _HEAD.pack(_VERSION, self.cuts, self.previous, self.hash, self.other)
        return b"".join([head, self.salt, *self.slots, self.checks])

    @classmethod
    def read(cls, data: bytes | memoryview) -> Self:
        """Parse a seal. Raises ValueError."""
        data = bytes(data)
        if len(data) < _HEAD.size or data[0] != _VERSION:
            raise ValueError(f"These {len(data)} bytes are not a seal of version {_VERSION}.")
        _, cuts, previous, own, other = _HEAD.unpack_from(data)
        if cuts & ~_REMOVABLE:
            # No rule and no erasure would explain it.
            raise ValueError("This seal names a removal that does not exist.")
        end = _HEAD.size + (_SIZE * len(PARTS) if cuts else _SIZE)
        if len(data) != end + _CHECK * len(PARTS):
            raise ValueError(f"A seal of version {_VERSION} does not have {len(data)} bytes.")
        salts, checks = data[_HEAD.size : end], data[end:]
        return cls(previous, own, checks, b"" if cuts else salts, other, _split(salts, _SIZE) if cuts else (), cuts)

    def _hash_present(self, parts: Parts) -> list[bytes]:
        """The hash of each part; of a removed part the stored one, if really nothing is left of it."""
        hashes, removed = _hash_parts(self.slots or derive_salts(self.salt), parts), list_removed(self.cuts)
        for at, (name, content) in enumerate(zip(PARTS, parts.removable, strict=True)):
            if name in removed and not content:
                hashes[at] = self.slots[at]
        return hashes


def read_seal(data: bytes | memoryview | None) -> Seal | None:
    """A stored seal. Returns None if there is none, or if the bytes are not a seal."""
    try:
        return Seal.read(data) if data else None
    except ValueError:
        return None


def encode_parts(row: Mapping[str, Any], release: str = "", document: Sequence[bytes] = ()) -> Parts:
    """The sealed bytes of a row, by column; `release` is the content hash of its release."""
    return encode_parts_with(row, dump_in_order([row[name] for name in JSON_COLUMNS])[1], release, document)


def encode_parts_with(
    row: Mapping[str, Any], encoded: Sequence[bytes], release: str, document: Sequence[bytes] = ()
) -> Parts:
    """Encode a row whose JSON columns are encoded already."""
    words = [row[name] for name in WORDS]
    is_empty = words == _NO_WORDS and list(encoded) == _NO_DOCUMENTS
    events, recording = row["events"], row["recording"]
    return Parts(
        _dump_columns([row[name] for name in HEADER]),
        b"" if is_empty else b"\n".join([_dump_columns(words), *encoded]),
        b"" if events is None else events.encode("utf-8", "surrogatepass"),
        # A text says that the database cannot read it.
        b"" if recording is None else recording.encode() if isinstance(recording, str) else bytes(recording),
        release.encode(),
        document,
    )


def _hash_row(previous: bytes, release: bytes, whole: bytes, root: bytes) -> bytes:
    return _hash_all((_PURPOSE, previous, whole, root, release))


def _hash_whole(salt: bytes, parts: Parts) -> bytes:
    digest = hashlib.sha256(salt)
    for content in parts[:4]:
        digest.update(struct.pack(">I", len(content)))
        digest.update(content)
    return digest.digest()


def _hash_parts(salts: Sequence[bytes], parts: Parts) -> list[bytes]:
    pairs = zip(salts, parts.removable, strict=True)
    return [hashlib.sha256(salt + content).digest()[:_SIZE] for salt, content in pairs]


def _hash_all(pieces: Sequence[bytes]) -> bytes:
    return hashlib.sha256(b"".join(pieces)).digest()


def derive_salts(salt: bytes) -> tuple[bytes, ...]:
    """The salts of the parts of a row. From one of them, nobody can compute the salt of the row, or of another part."""
    return _split(hashlib.shake_256(salt).digest(_SIZE * len(PARTS)), _SIZE)


def _split(data: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(data[at : at + size] for at in range(0, len(data), size))


def _shorten(hashes: Sequence[bytes]) -> bytes:
    return b"".join([part[:_CHECK] for part in hashes])


def list_removed(cuts: int) -> set[str]:
    return {name for bit, names in _REMOVED_PARTS.items() if cuts & bit for name in names}


def _dump_columns(values: Sequence[Any]) -> bytes:
    """The JSON text of the encoded values."""
    try:
        text = orjson.dumps(values, default=encode_value, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        # A lone surrogate.
        text = _NUL
    return orjson.dumps(list(map(encode_value, values))) if _NUL in text else text
