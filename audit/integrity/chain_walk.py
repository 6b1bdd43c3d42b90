"""Verify one conversation's chain: each turn and each addition with its seal, each seal with the one before.

The marks of a seal tell which events changed.
"""

import uuid
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from audit.integrity.conversation_facts import ConversationFacts, RetentionCuts
from audit.integrity.findings import Finding
from audit.integrity.read_record import TurnChunk, TurnEvents, read_pieces
from audit.models import CeChainLink
from audit.record import elision
from audit.record.seal.links import link_frame
from audit.record.seal.stored_pieces import OF_EVENTS, Piece, group_pieces
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.turn.codec import loads
from convengine.engine.turn.seal import CALLS, DECIDED, GENESIS, WORDS, Seal, digest, marks_of
from convengine.server.turns.turn_record import DOCUMENTS, SAID, encode_documents, encode_frame, encode_words

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
    current_marks = marks_of(pieces)
    for kind, first, end, start, stop in SequenceMatcher(None, marks, current_marks, autojunk=False).get_opcodes():
        if kind != "equal":
            for step in range(max(end - first, stop - start)):
                yield (
                    first + step if first + step < end else None,
                    start + step if start + step < stop else None,
                )


def find_differences(marks: Mapping[str, Sequence[int]], events: Sequence[Piece], numbers: range) -> Differences:
    """How events differ from the sealed ones; `numbers` are the possible numbers of sealed events."""
    runs = [run for group in OF_EVENTS for run in _differing_runs(group, marks.get(group, ()), events)]
    pieces = {piece.seq: piece for run in runs for piece in run.events}
    # The seal of some events is only that of PIPELINE_TIMING, which lists them.
    no_rows = {seq for event in events if event.stage == _TIMING for seq in elision.numbers(loads(event.payload))}
    absent = set(numbers) - {event.seq for event in events} - no_rows
    differences = Differences()
    #: The sealed part of a differing event, by its number.
    sealed: dict[int, int] = {}
    groups: dict[int, str] = {}
    for run in runs:
        numbered = run.number_marks(absent, pieces, max(numbers))
        differences.missing += [(run.group, None)] * (len(run.marks) if numbered is None else 0)
        sealed |= numbered or {}
        groups |= dict.fromkeys(numbered or (), run.group)
    for first, other in combinations(sorted(sealed.keys() & pieces.keys())[:_MOST_SWAPPED], 2):
        if (
            first in sealed
            and other in sealed
            and _are_swapped(pieces[first], pieces[other], sealed[first], sealed[other])
        ):
            differences.swapped.append((pieces.pop(first), pieces.pop(other)))
            del sealed[first], sealed[other]
    differences.changed = [pieces[seq] for seq in sorted(sealed.keys() & pieces.keys())]
    differences.missing += [(groups[seq], seq) for seq in sorted(sealed.keys() - pieces.keys())]
    differences.added = [pieces[seq] for seq in sorted(pieces.keys() - sealed.keys())]
    return differences


@dataclass(frozen=True)
class _Run:
    """Adjacent sealed events of a group, and the stored ones in their position."""

    group: str
    marks: Sequence[int]
    events: Sequence[Piece]
    #: The numbers of the unchanged events around them.
    before: int
    after: int

    def number_marks(self, absent: set[int], pieces: Mapping[int, Piece], last: int) -> dict[int, int] | None:
        """The marks by the numbers of their events; null if they are unknown."""
        own = {piece.seq for piece in self.events if self.before < piece.seq < self.after}
        gone = {seq for seq in absent if self.before < seq < self.after}
        others = {seq for seq in pieces if self.before < seq < self.after}
        # Without PIPELINE_TIMING it is unknown which events have no row; it is the last event or the one before.
        at_the_end = {seq for seq in gone if seq >= last - 1}
        for candidates in (own, own | gone, own | gone | others, own | at_the_end):
            if len(candidates) == len(self.marks):
                return dict(zip(sorted(candidates), self.marks, strict=True))
        return None


def _differing_runs(group: str, marks: Sequence[int], events: Sequence[Piece]) -> Iterator[_Run]:
    of_group = [event for event in events if event.group == group]
    current_marks = marks_of([event.sealed for event in of_group])
    for kind, first, end, start, stop in SequenceMatcher(None, marks, current_marks, autojunk=False).get_opcodes():
        if kind != "equal":
            before = of_group[start - 1].seq if start else 0
            after = of_group[stop].seq if stop < len(of_group) else 2**31
            yield _Run(group, marks[first:end], of_group[start:stop], before, after)


def _are_swapped(piece: Piece, other: Piece, mark: int, other_mark: int) -> bool:
    return any(
        (_mark(_exchange_parts(piece, other, parts)), _mark(_exchange_parts(other, piece, parts))) == (mark, other_mark)
        for parts in _CONTENTS
    )


def _exchange_parts(event: Piece, other: Piece, parts: Sequence[str]) -> Piece:
    taken: dict[str, Any] = {part: getattr(other, part) for part in parts}
    return event._replace(**taken)


def _mark(event: Piece) -> int:
    return zlib.crc32(event.sealed) & 0xFFFF


_WORDS = (*SAID, *DOCUMENTS, "recording")
#: An addition to a turn, or an event outside of turns.
Extra = tuple[uuid.UUID | None, int | None]


@dataclass
class ChainWalk:
    """A walk through the turns of one conversation, in order."""

    key: uuid.UUID
    cuts: RetentionCuts
    facts: ConversationFacts
    findings: list[Finding] = field(default_factory=list)
    turns: int = 0
    erased: int = 0
    unsealed: int = 0
    #: Number and hash of the last seal.
    last: tuple[int, bytes] | None = None
    last_turn_no: int = 0
    numbers: set[int] = field(default_factory=set)
    extras: dict[Extra, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[uuid.UUID | None, list[bytes]] = field(default_factory=lambda: defaultdict(list))

    def check_turn(self, record: Mapping[str, Any], chunk: TurnChunk) -> None:
        """Verify the next turn."""
        turn_no, turn_id = record["turn_no"], record["turn_id"]
        self.turns += 1
        self.numbers.add(turn_no)
        bundles = chunk.events.get((self.key, turn_no), [])
        own = next((bundle for bundle in bundles if bundle.turn_id == turn_id), None)
        if own is not None:
            bundles.remove(own)
        calls = chunk.calls.pop((self.key, turn_no, turn_id), [])
        seal = self._read_seal(record)
        if seal is None:
            return
        self._check_order(turn_no, seal)
        self.last, self.last_turn_no = (turn_no, seal.hash(encode_frame(record))), turn_no
        if seal.salt is None:
            self._check_erased(record, own)
            self.calls[turn_id] += calls
        else:
            self._check_contents(record, seal, seal.salt, own, (chunk.deciding.get(turn_id, []), calls))

    def add_unrecorded_events(self, turn_no: int, bundles: Sequence[TurnEvents]) -> None:
        """Events of the conversation without a turn record."""
        if bundles and not (self.facts.base and turn_no <= self.facts.base[0]):
            wanted = {bundle.turn_id for bundle in bundles}
            for turn_id, _, piece in read_pieces(self.key, turn_no):
                if turn_id in wanted:
                    self.extras[turn_id, turn_no].append(piece)

    def add_other_calls(self, turn_no: int | None, turn_id: uuid.UUID | None, calls: Sequence[bytes]) -> None:
        """Model calls of the conversation without a turn record. They may be kept longer than turns."""
        if turn_no is None or (self.numbers and turn_no >= min(self.numbers)):
            self.calls[turn_id] += calls

    def finish(self, *, is_there: bool) -> None:
        """Verify the rest: the head, the additions, and unsealed data."""
        head = self.last[1] if self.last else (self.facts.base[1] if self.facts.base else None)
        gone = not is_there and any(self.extras.values())
        if gone and not self._is_removed_by_rule():
            self._add_finding("CONVERSATION_MISSING", "Its events still exist, but the conversation was removed.")
        if gone:
            return
        if is_there and head != self.facts.head:
            self._check_end()
        self.extras[None, None] += self.facts.outside
        self._check_additions()
        self._report_missing_seals(is_there)

    def _is_removed_by_rule(self) -> bool:
        """True when everything left of the conversation is old enough to have been removed by rule."""
        newest = max(event.at for events in self.extras.values() for event in events)
        return self.cuts.explains_missing_turn(datetime.fromtimestamp(newest / 1_000_000, UTC))

    def _read_seal(self, record: Mapping[str, Any]) -> Seal | None:
        at = {"turn_no": record["turn_no"]}
        if record["chain"] is None:
            if self.last is None and self.cuts.predates_seals(record["created_at"]):
                self.unsealed += 1
            else:
                self._add_finding("SEAL_MISSING", "The turn record has no seal (hash).", **at)
            return None
        try:
            return Seal.read(record["chain"])
        except ValueError as fault:
            self._add_finding("SEAL_MISSING", str(fault), **at)
            return None

    def _check_order(self, turn_no: int, seal: Seal) -> None:
        before = self.last or self.facts.base
        expected = before[1] if before else GENESIS
        if seal.previous == expected:
            return
        first = (before[0] if before else 0) + 1
        if first < turn_no:
            which = f"turn {first}" if first == turn_no - 1 else f"one of the turns {first} to {turn_no - 1}"
            text = f"The record of {which} was removed: turn {turn_no} does not follow from the previous turn."
            self._add_finding("RECORD_MISSING", text, turn_no=first)
        elif before:
            text = f"Its data or its seal does not match the seal of turn {turn_no}."
            self._add_finding("RECORD_CHANGED", text, turn_no=before[0])
        else:
            self._add_finding("CHAIN_BROKEN", "The first turn is not the start of a chain.", turn_no=turn_no)

    def _check_end(self) -> None:
        newest = self.facts.last_turn_no
        if self.last and newest == self.last[0]:
            text = "Its data or its seal does not match the latest seal of the conversation."
            self._add_finding("RECORD_CHANGED", text, turn_no=newest)
        else:
            behind = self.last[0] if self.last else 0
            text = f"The latest seal of the conversation does not match: turns after {behind} were removed or replaced."
            self._add_finding("END_CUT", text, turn_no=newest)

    def _check_erased(self, record: Mapping[str, Any], own: TurnEvents | None) -> None:
        self.erased += 1
        at = {"turn_no": record["turn_no"]}
        if record["turn_no"] > self.facts.erased_turns:
            text = "The content of the turn was removed, but no erasure is recorded."
            self._add_finding("ERASED_WITHOUT_RECORD", text, **at)
        if own is not None or any(record[name] is not None for name in _WORDS):
            self._add_finding("RECORD_CHANGED", "The turn was erased, but has content that was added later.", **at)

    def _check_contents(
        self, record: Mapping[str, Any], seal: Seal, salt: bytes, own: TurnEvents | None, beside: tuple[Any, Any]
    ) -> None:
        turn_no, at = record["turn_no"], record["created_at"]
        quick = own and own.config_version == record["config_version"] and own.by_group(seal.last_seq)
        if own is None or not quick:
            events = self._read_own_events(record, seal) if own else []
            groups = group_pieces(events)
        else:
            events, groups = [], quick
        if any(not _matches_seal(seal, salt, group, groups.get(group, ())) for group in OF_EVENTS):
            events = events or (self._read_own_events(record, seal) if own else [])
            event_differences = find_differences(seal.marks, events, range(1, seal.last_seq + 1))
            self._report_events(turn_no, event_differences, at, sure=bool(own))
        deciding, calls = beside
        count = len(seal.marks.get(CALLS, ()))
        self.calls[record["turn_id"]] += calls[count:]
        self._check_group(turn_no, seal, DECIDED, deciding, at)
        self._check_group(turn_no, seal, CALLS, calls[:count], at)
        words = encode_words(record, encode_documents(record))
        if not _matches_seal(seal, salt, WORDS, words):
            names = [
                _WORDS[now]
                for _, now in differing_indexes(seal.marks[WORDS], words)
                if now is not None and now < len(_WORDS)
            ]
            self._add_finding("RECORD_CHANGED", f"Changed: {', '.join(names) or 'its words'}.", turn_no=turn_no)

    def _read_own_events(self, record: Mapping[str, Any], seal: Seal) -> list[Piece]:
        """The turn's own events one by one; later ones are collected separately."""
        events = []
        for turn_id, version, piece in read_pieces(self.key, record["turn_no"]):
            if turn_id != record["turn_id"]:
                continue
            if piece.seq > seal.last_seq:
                self.extras[turn_id, record["turn_no"]].append(piece)
                continue
            if version != record["config_version"]:
                self._add_finding(
                    "EVENT_CHANGED", "Its release differs from the release of the turn.", record["turn_no"], piece
                )
            events.append(piece)
        return events

    def _report_events(
        self, turn_no: int | None, event_differences: Differences, at: datetime, *, sure: bool = True
    ) -> None:
        """Report what is wrong with events. A missing part of a group may have been removed by rule."""
        for event in event_differences.changed:
            self._add_finding("EVENT_CHANGED", "Its content does not match the seal.", turn_no, event)
        for event, other in event_differences.swapped:
            text = f"It and event {other.seq} {other.stage} were swapped."
            self._add_finding("EVENTS_SWAPPED", text, turn_no, event)
        for event in event_differences.added:
            self._add_finding("EVENT_ADDED", "It was added after the turn was sealed.", turn_no, event)
        missing = [seq for group, seq in event_differences.missing if not self.cuts.explains_missing(group, at)]
        numbers = [seq for seq in missing if seq is not None][:20]
        for seq in numbers:
            self.findings.append(Finding("EVENT_MISSING", self.key, "It was removed.", turn_no, seq))
        if others := len(missing) - len(numbers):
            self._add_finding("EVENT_MISSING", f"{others} events were removed.", turn_no=turn_no)
        if not event_differences and sure:
            self._add_finding("EVENT_CHANGED", "One of the events was changed.", turn_no=turn_no)

    def _check_group(self, turn_no: int | None, seal: Seal, group: str, pieces: Sequence[bytes], at: Any) -> None:
        assert seal.salt is not None
        if _matches_seal(seal, seal.salt, group, pieces):
            return
        wrong = list(differing_indexes(seal.marks.get(group, ()), pieces))
        if all(now is None for _, now in wrong) and wrong and self.cuts.explains_missing(group, at):
            return
        code, what = _BESIDE[group]
        numbers = ", ".join(f"{what} {(now if now is not None else sealed or 0) + 1}" for sealed, now in wrong[:5])
        self._add_finding(code, f"Changed, added or removed: {numbers or what}.", turn_no=turn_no)

    def _check_additions(self) -> None:
        expected, number = GENESIS, 0
        for link in self.facts.links:
            number += 1
            turn_no = link.turn_no
            try:
                seal = Seal.read(link.chain)
            except ValueError as fault:
                self._add_finding("SEAL_MISSING", f"Addition {link.number}: {fault}", turn_no)
                return
            if link.number != number or seal.previous != expected:
                self._add_finding(
                    "CHAIN_BROKEN", f"Addition {link.number} does not follow from the one before it.", turn_no
                )
                number = link.number
            expected = seal.hash(link_frame(link))
            self._check_addition(link, seal)

    def _check_addition(self, link: CeChainLink, seal: Seal) -> None:
        if seal.salt is None:
            if link.number > self.facts.erased_links:
                text = f"Addition {link.number} was emptied, but no erasure is recorded."
                self._add_finding("ERASED_WITHOUT_RECORD", text, turn_no=link.turn_no)
            return
        owner = link.turn_id, link.turn_no
        own = [event for event in self.extras[owner] if link.first_seq <= event.seq <= seal.last_seq]
        self.extras[owner] = [event for event in self.extras[owner] if event not in own]
        groups = group_pieces(own)
        if any(not _matches_seal(seal, seal.salt, group, groups[group]) for group in OF_EVENTS):
            event_differences = find_differences(seal.marks, own, range(link.first_seq, seal.last_seq + 1))
            self._report_events(link.turn_no, event_differences, link.created_at)
        count = len(seal.marks.get(CALLS, ()))
        calls = self.calls[link.turn_id]
        self._check_group(link.turn_no, seal, CALLS, calls[:count], link.created_at)
        del calls[:count]

    def _report_missing_seals(self, is_there: bool) -> None:
        """Report data without a seal."""
        for (turn_id, turn_no), events in self.extras.items():
            if not events or (turn_id is not None and turn_id == self.facts.running):
                continue
            if turn_no is not None and turn_no not in self.numbers and is_there:
                self._add_finding(
                    "RECORD_MISSING", "Events of the turn exist, but its record is missing.", turn_no=turn_no
                )
                continue
            for event in events[:5]:
                self._add_finding("EVENT_ADDED", "It was added after the turn was sealed.", turn_no, event)
        for turn_id, calls in self.calls.items():
            if calls and turn_id != self.facts.running:
                self._add_finding(
                    "MODEL_CALLS_CHANGED", f"{len(calls)} model calls were added after the turn was sealed."
                )

    def _add_finding(self, code: str, message: str, turn_no: int | None = None, event: Piece | None = None) -> None:
        seq, stage = (event.seq, event.stage) if event else (None, None)
        self.findings.append(Finding(code, self.key, message, turn_no, seq, stage))


_BESIDE = {DECIDED: ("DECIDING_ROWS_CHANGED", "deciding row"), CALLS: ("MODEL_CALLS_CHANGED", "model call")}


def _matches_seal(seal: Seal, salt: bytes, group: str, pieces: Sequence[bytes]) -> bool:
    """True when a group matches its seal."""
    if not pieces:
        return group not in seal.digests
    return group in seal.digests and digest(salt, pieces) == seal.digests[group]
