"""The chain over a conversation's record: what each turn left is sealed, together with the seal before it.

A seal is one value beside the record. It holds the seal before it (as a hash), a salt, a digest for each group of what
the turn left, and a mark of two bytes for each piece: digests say whether something was changed, marks say what.
Digests are salted: once the salt is destroyed, nobody finds out by trying what was erased. Nothing here is a secret;
a person who may write to the database could make another chain; an anchor kept elsewhere reveals that.
"""

import struct
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

#: The hash before the first seal.
GENESIS = bytes(32)
SALT, DIGEST = 16, 16
_VERSION = 1
_ERASED = 0x80
_HEAD = struct.Struct(">BB32sI")
_COUNT = struct.Struct(">H")
_MOST = 0xFFFF
_PURPOSE = b"convengine chain 1\n"


#: Groups of what a turn leaves, by what may be removed separately later: starts and ends of steps; prompts and answers
#: of models, as events; all other events; deciding rows; the log of model calls; texts and the recording.
STEPS, PROMPTS, EVENTS, DECIDED, CALLS, WORDS = GROUPS = ("steps", "prompts", "events", "decided", "calls", "words")
_BITS = {group: 1 << bit for bit, group in enumerate(GROUPS)}
_TAGS = {group: bytes((bit,)) for group, bit in _BITS.items()}

#: The pieces of each group, in order, as bytes that are the same whenever they are read.
Pieces = Mapping[str, Sequence[bytes]]


@dataclass(frozen=True)
class Seal:
    """The seal of a turn's record."""

    #: The hash of the seal before this one.
    previous: bytes
    #: The number of the turn's last sealed event.
    last_seq: int
    digests: Mapping[str, bytes]
    #: Null after an erasure.
    salt: bytes | None = None
    marks: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @classmethod
    def create(cls, previous: bytes, last_seq: int, pieces: Pieces, salt: bytes) -> "Seal":
        """Seal these pieces; empty groups are left out."""
        present = {group: group_pieces for group in GROUPS if (group_pieces := pieces.get(group))}
        return cls(
            previous,
            last_seq,
            {group: digest(salt, group_pieces) for group, group_pieces in present.items()},
            salt,
            {group: marks_of(group_pieces) for group, group_pieces in present.items()},
        )

    def hash(self, frame: bytes) -> bytes:
        """The hash for the next seal. `frame` is the permanent part of the record, as bytes."""
        known = [self.previous, struct.pack(">II", self.last_seq, len(frame)), frame]
        for group, group_digest in self.digests.items():
            known += [_TAGS[group], group_digest]
        return sha256(_PURPOSE + b"".join(known)).digest()

    def erase(self) -> "Seal":
        """The seal without anything that could reveal the sealed data. Its hash stays."""
        return replace(self, salt=None, marks={})

    def to_bytes(self) -> bytes:
        """The bytes that are stored."""
        flags = sum(_BITS[group] for group in self.digests) | (0 if self.salt else _ERASED)
        parts = [_HEAD.pack(_VERSION, flags, self.previous, self.last_seq), *self.digests.values()]
        if self.salt:
            parts.append(self.salt)
            for group in self.digests:
                group_marks = self.marks[group]
                parts += [_COUNT.pack(min(len(group_marks), _MOST)), _pack_marks(group_marks[:_MOST])]
        return b"".join(parts)

    @classmethod
    def read(cls, data: bytes | memoryview) -> "Seal":
        """Parse a seal. Raises ValueError for invalid bytes."""
        data = bytes(data)
        try:
            version, flags, previous, last_seq = _HEAD.unpack_from(data)
            if version != _VERSION:
                raise ValueError(f"This seal has version {version}; known is {_VERSION}.")
            groups = [group for group, bit in _BITS.items() if flags & bit]
            offset = _HEAD.size
            digests = {}
            for group in groups:
                digests[group] = data[offset : offset + DIGEST]
                offset += DIGEST
            if flags & _ERASED:
                return cls._check_length(data, offset, cls(previous, last_seq, digests))
            salt, offset = data[offset : offset + SALT], offset + SALT
            marks = {}
            for group in groups:
                (count,) = _COUNT.unpack_from(data, offset)
                offset += _COUNT.size
                marks[group] = _unpack_marks(data[offset : offset + 2 * count])
                offset += 2 * count
            return cls._check_length(data, offset, cls(previous, last_seq, digests, salt, marks))
        except struct.error as short:
            raise ValueError("These bytes are no seal: they are too short.") from short

    @staticmethod
    def _check_length(data: bytes, end: int, seal: "Seal") -> "Seal":
        if end != len(data):
            raise ValueError(f"These bytes are no seal: it would take {end}, there are {len(data)}.")
        return seal


def digest(salt: bytes, pieces: Sequence[bytes]) -> bytes:
    """The salted digest of a group. No piece but the last may contain a line break."""
    return sha256(salt + b"\n".join(pieces)).digest()[:DIGEST]


def marks_of(pieces: Sequence[bytes]) -> Sequence[int]:
    """Two bytes for each piece, to find a changed one."""
    crc32 = zlib.crc32
    return [crc32(piece) & 0xFFFF for piece in pieces]


def _pack_marks(marks: Sequence[int]) -> bytes:
    numbers = array("H", marks)
    if _SWAPPED:
        numbers.byteswap()
    return numbers.tobytes()


def _unpack_marks(data: bytes) -> Sequence[int]:
    numbers = array("H", data)
    if _SWAPPED:
        numbers.byteswap()
    return numbers.tolist()


#: Marks have the same byte order on every machine.
_SWAPPED = array("H", [1]).tobytes() != b"\x00\x01"


class Batch(NamedTuple):
    """What was stored of a turn at one time."""

    #: How much of the turn was stored before. A repetition starts at the same position, and replaces this.
    after: int
    last_seq: int
    pieces: Pieces


def collect_pieces(batches: Iterable[Batch]) -> tuple[int, Pieces]:
    """The number of the last event, and the pieces of all batches."""
    last_seq, collected = 0, dict[str, list[bytes]]()
    for batch in batches:
        last_seq = max(last_seq, batch.last_seq)
        for group, pieces in batch.pieces.items():
            collected.setdefault(group, []).extend(pieces)
    return last_seq, collected
