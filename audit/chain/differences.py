"""Which events differ from what was sealed, by the marks that the seal has of them."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from audit import left_out
from audit.chain.stored import OF_EVENTS, Piece
from convengine.codec import loads
from convengine.domain.chain import marks_of
from convengine.domain.stages import Stage

_TIMING = Stage.PIPELINE_TIMING.value
#: Beyond so many events that differ nobody asks which two of them were swapped.
_MOST_SWAPPED = 12
#: What two events may have swapped: all but the number, or less.
_CONTENTS = (("stage", "at", "payload"), ("stage", "payload"), ("payload",), ("stage",), ("at",))


@dataclass
class Differences:
    """Events by their numbers."""

    changed: list[Piece] = field(default_factory=list)
    swapped: list[tuple[Piece, Piece]] = field(default_factory=list)
    #: Groups and numbers; the number is null where several could be meant.
    missing: list[tuple[str, int | None]] = field(default_factory=list)
    added: list[Piece] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.swapped or self.missing or self.added)


def places(marks: Sequence[int], pieces: Sequence[bytes]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of places that do not fit: among the sealed, among those that are there; null for none."""
    found = marks_of(pieces)
    for kind, first, end, start, stop in SequenceMatcher(None, marks, found, autojunk=False).get_opcodes():
        if kind != "equal":
            for step in range(max(end - first, stop - start)):
                yield (
                    first + step if first + step < end else None,
                    start + step if start + step < stop else None,
                )


def differences(marks: Mapping[str, Sequence[int]], events: Sequence[Piece], numbers: range) -> Differences:
    """How events differ from what was sealed; `numbers` are those that the sealed ones may have had."""
    runs = [run for group in OF_EVENTS for run in _runs(group, marks.get(group, ()), events)]
    there = {piece.seq: piece for run in runs for piece in run.events}
    # Of some events the seal is over PIPELINE_TIMING alone, which tells of them.
    no_rows = {seq for one in events if one.stage == _TIMING for seq in left_out.numbers(loads(one.payload))}
    absent = set(numbers) - {one.seq for one in events} - no_rows
    found = Differences()
    #: What was sealed of an event that differs, by its number.
    sealed: dict[int, int] = {}
    groups: dict[int, str] = {}
    for run in runs:
        numbered = run.numbered(absent, there, max(numbers))
        found.missing += [(run.group, None)] * (len(run.marks) if numbered is None else 0)
        sealed |= numbered or {}
        groups |= dict.fromkeys(numbered or (), run.group)
    for one, other in combinations(sorted(sealed.keys() & there.keys())[:_MOST_SWAPPED], 2):
        if one in sealed and other in sealed and _were_swapped(there[one], there[other], sealed[one], sealed[other]):
            found.swapped.append((there.pop(one), there.pop(other)))
            del sealed[one], sealed[other]
    found.changed = [there[seq] for seq in sorted(sealed.keys() & there.keys())]
    found.missing += [(groups[seq], seq) for seq in sorted(sealed.keys() - there.keys())]
    found.added = [there[seq] for seq in sorted(there.keys() - sealed.keys())]
    return found


@dataclass(frozen=True)
class _Run:
    """Neighbours of a group that were sealed, and what stands in their place."""

    group: str
    marks: Sequence[int]
    events: Sequence[Piece]
    #: The numbers of the events around that are as they were.
    before: int
    after: int

    def numbered(self, absent: set[int], there: Mapping[int, Piece], last: int) -> dict[int, int] | None:
        """The marks by the numbers that their events had; null when that cannot be said."""
        own = {piece.seq for piece in self.events if self.before < piece.seq < self.after}
        gone = {seq for seq in absent if self.before < seq < self.after}
        others = {seq for seq in there if self.before < seq < self.after}
        # Without PIPELINE_TIMING nobody knows which are no rows; it is the last event itself, or the one before it.
        at_the_end = {seq for seq in gone if seq >= last - 1}
        for candidates in (own, own | gone, own | gone | others, own | at_the_end):
            if len(candidates) == len(self.marks):
                return dict(zip(sorted(candidates), self.marks, strict=True))
        return None


def _runs(group: str, marks: Sequence[int], events: Sequence[Piece]) -> Iterator[_Run]:
    of_group = [one for one in events if one.group == group]
    found = marks_of([one.sealed for one in of_group])
    for kind, first, end, start, stop in SequenceMatcher(None, marks, found, autojunk=False).get_opcodes():
        if kind != "equal":
            before = of_group[start - 1].seq if start else 0
            after = of_group[stop].seq if stop < len(of_group) else 2**31
            yield _Run(group, marks[first:end], of_group[start:stop], before, after)


def _were_swapped(one: Piece, other: Piece, mark: int, other_mark: int) -> bool:
    return any(
        (_mark(_with(one, other, parts)), _mark(_with(other, one, parts))) == (mark, other_mark) for parts in _CONTENTS
    )


def _with(event: Piece, other: Piece, parts: Sequence[str]) -> Piece:
    taken: dict[str, Any] = {part: getattr(other, part) for part in parts}
    return event._replace(**taken)


def _mark(event: Piece) -> int:
    return zlib.crc32(event.sealed) & 0xFFFF
