"""Find changed events by the marks of their seal."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from audit.record import elision
from audit.record.seal.stored_pieces import OF_EVENTS, Piece
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.turn.codec import loads
from convengine.engine.turn.seal import marks_of

_TIMING = PIPELINE_TIMING
#: With more differing events, swaps are not searched.
_MOST_SWAPPED = 12
#: The parts of two events that may have been swapped: all except the number, or fewer.
_CONTENTS = (("stage", "at", "payload"), ("stage", "payload"), ("payload",), ("stage",), ("at",))


@dataclass
class Differences:
    """Events by their numbers."""

    changed: list[Piece] = field(default_factory=list)
    swapped: list[tuple[Piece, Piece]] = field(default_factory=list)
    #: Groups and numbers; the number is null if it is ambiguous.
    missing: list[tuple[str, int | None]] = field(default_factory=list)
    added: list[Piece] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.swapped or self.missing or self.added)


def differing_indexes(marks: Sequence[int], pieces: Sequence[bytes]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of positions that do not match: sealed and stored; null for none."""
    found = marks_of(pieces)
    for kind, first, end, start, stop in SequenceMatcher(None, marks, found, autojunk=False).get_opcodes():
        if kind != "equal":
            for step in range(max(end - first, stop - start)):
                yield (
                    first + step if first + step < end else None,
                    start + step if start + step < stop else None,
                )


def find_differences(marks: Mapping[str, Sequence[int]], events: Sequence[Piece], numbers: range) -> Differences:
    """How events differ from the sealed ones; `numbers` are the possible numbers of sealed events."""
    runs = [run for group in OF_EVENTS for run in _differing_runs(group, marks.get(group, ()), events)]
    there = {piece.seq: piece for run in runs for piece in run.events}
    # The seal of some events is only that of PIPELINE_TIMING, which lists them.
    no_rows = {seq for one in events if one.stage == _TIMING for seq in elision.numbers(loads(one.payload))}
    absent = set(numbers) - {one.seq for one in events} - no_rows
    found = Differences()
    #: The sealed part of a differing event, by its number.
    sealed: dict[int, int] = {}
    groups: dict[int, str] = {}
    for run in runs:
        numbered = run.number_marks(absent, there, max(numbers))
        found.missing += [(run.group, None)] * (len(run.marks) if numbered is None else 0)
        sealed |= numbered or {}
        groups |= dict.fromkeys(numbered or (), run.group)
    for one, other in combinations(sorted(sealed.keys() & there.keys())[:_MOST_SWAPPED], 2):
        if one in sealed and other in sealed and _are_swapped(there[one], there[other], sealed[one], sealed[other]):
            found.swapped.append((there.pop(one), there.pop(other)))
            del sealed[one], sealed[other]
    found.changed = [there[seq] for seq in sorted(sealed.keys() & there.keys())]
    found.missing += [(groups[seq], seq) for seq in sorted(sealed.keys() - there.keys())]
    found.added = [there[seq] for seq in sorted(there.keys() - sealed.keys())]
    return found


@dataclass(frozen=True)
class _Run:
    """Adjacent sealed events of a group, and the stored ones in their position."""

    group: str
    marks: Sequence[int]
    events: Sequence[Piece]
    #: The numbers of the unchanged events around them.
    before: int
    after: int

    def number_marks(self, absent: set[int], there: Mapping[int, Piece], last: int) -> dict[int, int] | None:
        """The marks by the numbers of their events; null if they are unknown."""
        own = {piece.seq for piece in self.events if self.before < piece.seq < self.after}
        gone = {seq for seq in absent if self.before < seq < self.after}
        others = {seq for seq in there if self.before < seq < self.after}
        # Without PIPELINE_TIMING it is unknown which events have no row; it is the last event or the one before.
        at_the_end = {seq for seq in gone if seq >= last - 1}
        for candidates in (own, own | gone, own | gone | others, own | at_the_end):
            if len(candidates) == len(self.marks):
                return dict(zip(sorted(candidates), self.marks, strict=True))
        return None


def _differing_runs(group: str, marks: Sequence[int], events: Sequence[Piece]) -> Iterator[_Run]:
    of_group = [one for one in events if one.group == group]
    found = marks_of([one.sealed for one in of_group])
    for kind, first, end, start, stop in SequenceMatcher(None, marks, found, autojunk=False).get_opcodes():
        if kind != "equal":
            before = of_group[start - 1].seq if start else 0
            after = of_group[stop].seq if stop < len(of_group) else 2**31
            yield _Run(group, marks[first:end], of_group[start:stop], before, after)


def _are_swapped(one: Piece, other: Piece, mark: int, other_mark: int) -> bool:
    return any(
        (_mark(_exchange_parts(one, other, parts)), _mark(_exchange_parts(other, one, parts))) == (mark, other_mark)
        for parts in _CONTENTS
    )


def _exchange_parts(event: Piece, other: Piece, parts: Sequence[str]) -> Piece:
    taken: dict[str, Any] = {part: getattr(other, part) for part in parts}
    return event._replace(**taken)


def _mark(event: Piece) -> int:
    return zlib.crc32(event.sealed) & 0xFFFF
