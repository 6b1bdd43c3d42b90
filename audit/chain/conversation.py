"""One conversation's chain: each turn and each addition held against its seal, each seal against the one before."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from audit.chain.about import About, Cuts
from audit.chain.differences import Differences, differences, places
from audit.chain.findings import Finding
from audit.chain.links import frame as link_frame
from audit.chain.reading import Bundle, Chunk, one_by_one
from audit.chain.stored import OF_EVENTS, Piece, by_group
from audit.models import CeChainLink
from convengine.domain.chain import CALLS, DECIDED, GENESIS, WORDS, Seal, digest
from convengine.sessions.sealing import DOCUMENTS, SAID, documents_of, frame, words

_WORDS = (*SAID, *DOCUMENTS, "recording")
#: What was added to a turn, or stands outside of turns.
Extra = tuple[uuid.UUID | None, int | None]


@dataclass
class Walk:
    """A walk along the turns of one conversation, in their order."""

    key: uuid.UUID
    cuts: Cuts
    about: About
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

    def turn(self, record: Mapping[str, Any], chunk: Chunk) -> None:
        """The next turn."""
        turn_no, turn_id = record["turn_no"], record["turn_id"]
        self.turns += 1
        self.numbers.add(turn_no)
        bundles = chunk.events.get((self.key, turn_no), [])
        own = next((one for one in bundles if one.turn_id == turn_id), None)
        if own is not None:
            bundles.remove(own)
        calls = chunk.calls.pop((self.key, turn_no, turn_id), [])
        seal = self._seal(record)
        if seal is None:
            return
        self._follows(turn_no, seal)
        self.last, self.last_turn_no = (turn_no, seal.hash(frame(record))), turn_no
        if seal.salt is None:
            self._erased(record, own)
            self.calls[turn_id] += calls
        else:
            self._contents(record, seal, seal.salt, own, (chunk.deciding.get(turn_id, []), calls))

    def rest(self, turn_no: int, bundles: Sequence[Bundle]) -> None:
        """Events of the conversation that belong to none of its records."""
        if bundles and not (self.about.base and turn_no <= self.about.base[0]):
            wanted = {one.turn_id for one in bundles}
            for turn_id, _, piece in one_by_one(self.key, turn_no):
                if turn_id in wanted:
                    self.extras[turn_id, turn_no].append(piece)

    def others(self, turn_no: int | None, turn_id: uuid.UUID | None, calls: Sequence[bytes]) -> None:
        """Model calls of the conversation that belong to none of its records. They may be kept longer than turns."""
        if turn_no is None or (self.numbers and turn_no >= min(self.numbers)):
            self.calls[turn_id] += calls

    def end(self, *, is_there: bool) -> None:
        """Nothing more comes: the head, the additions, and what no seal knows."""
        head = self.last[1] if self.last else (self.about.base[1] if self.about.base else None)
        gone = not is_there and any(self.extras.values())
        if gone and not self._by_rule():
            self._found("CONVERSATION_MISSING", "Its events are there; the conversation itself was taken out.")
        if gone:
            return
        if is_there and head != self.about.head:
            self._cut_end()
        self.extras[None, None] += self.about.outside
        self._additions()
        self._unknown(is_there)

    def _by_rule(self) -> bool:
        """True when all that is left of the conversation is old enough to have been taken out by rule."""
        newest = max(one.at for events in self.extras.values() for one in events)
        return self.cuts.took_turn(datetime.fromtimestamp(newest / 1_000_000, UTC))

    def _seal(self, record: Mapping[str, Any]) -> Seal | None:
        at = {"turn_no": record["turn_no"]}
        if record["chain"] is None:
            if self.last is None and self.cuts.had_no_seal(record["created_at"]):
                self.unsealed += 1
            else:
                self._found("SEAL_MISSING", "The turn record has no seal.", **at)
            return None
        try:
            return Seal.read(record["chain"])
        except ValueError as fault:
            self._found("SEAL_MISSING", str(fault), **at)
            return None

    def _follows(self, turn_no: int, seal: Seal) -> None:
        before = self.last or self.about.base
        expected = before[1] if before else GENESIS
        if seal.previous == expected:
            return
        first = (before[0] if before else 0) + 1
        if first < turn_no:
            which = f"turn {first}" if first == turn_no - 1 else f"one of the turns {first} to {turn_no - 1}"
            text = f"The record of {which} was taken out: turn {turn_no} does not follow from what is before it."
            self._found("RECORD_MISSING", text, turn_no=first)
        elif before:
            text = f"Its frame or its seal is not as the seal of turn {turn_no} has it."
            self._found("RECORD_CHANGED", text, turn_no=before[0])
        else:
            self._found("CHAIN_BROKEN", "The first turn does not begin a chain.", turn_no=turn_no)

    def _cut_end(self) -> None:
        newest = self.about.last_turn_no
        if self.last and newest == self.last[0]:
            text = "Its frame or its seal is not as the conversation's head has it."
            self._found("RECORD_CHANGED", text, turn_no=newest)
        else:
            behind = self.last[0] if self.last else 0
            text = f"The conversation's head is of another seal: turns behind {behind} were taken out or replaced."
            self._found("END_CUT", text, turn_no=newest)

    def _erased(self, record: Mapping[str, Any], own: Bundle | None) -> None:
        self.erased += 1
        at = {"turn_no": record["turn_no"]}
        if record["turn_no"] > self.about.erased_turns:
            text = "The contents of the turn were taken out like those of an erased one; no erasure is recorded."
            self._found("ERASED_WITHOUT_RECORD", text, **at)
        if own is not None or any(record[name] is not None for name in _WORDS):
            self._found("RECORD_CHANGED", "The turn was erased; what stands in it now was put there later.", **at)

    def _contents(
        self, record: Mapping[str, Any], seal: Seal, salt: bytes, own: Bundle | None, beside: tuple[Any, Any]
    ) -> None:
        turn_no, at = record["turn_no"], record["created_at"]
        quick = own and own.config_version == record["config_version"] and own.by_group(seal.last_seq)
        if own is None or not quick:
            events = self._own(record, seal) if own else []
            found = by_group(events)
        else:
            events, found = [], quick
        if any(not _fits(seal, salt, group, found.get(group, ())) for group in OF_EVENTS):
            events = events or (self._own(record, seal) if own else [])
            told = differences(seal.marks, events, range(1, seal.last_seq + 1))
            self._events(turn_no, told, at, sure=bool(own))
        deciding, calls = beside
        count = len(seal.marks.get(CALLS, ()))
        self.calls[record["turn_id"]] += calls[count:]
        self._group(turn_no, seal, DECIDED, deciding, at)
        self._group(turn_no, seal, CALLS, calls[:count], at)
        said = words(record, documents_of(record))
        if not _fits(seal, salt, WORDS, said):
            names = [_WORDS[now] for _, now in places(seal.marks[WORDS], said) if now is not None and now < len(_WORDS)]
            self._found("RECORD_CHANGED", f"Not as it was written: {', '.join(names) or 'its words'}.", turn_no=turn_no)

    def _own(self, record: Mapping[str, Any], seal: Seal) -> list[Piece]:
        """The turn's own events one by one; those that came later are put aside."""
        events = []
        for turn_id, version, piece in one_by_one(self.key, record["turn_no"]):
            if turn_id != record["turn_id"]:
                continue
            if piece.seq > seal.last_seq:
                self.extras[turn_id, record["turn_no"]].append(piece)
                continue
            if version != record["config_version"]:
                self._found("EVENT_CHANGED", "It names another configuration than its turn.", record["turn_no"], piece)
            events.append(piece)
        return events

    def _events(self, turn_no: int | None, told: Differences, at: datetime, *, sure: bool = True) -> None:
        """Say what is wrong with events. What is missing of a group may have been taken out by rule."""
        for one in told.changed:
            self._found("EVENT_CHANGED", "What stands there now is not what was sealed.", turn_no, one)
        for one, other in told.swapped:
            text = f"It and event {other.seq} {other.stage} stand in each other's place."
            self._found("EVENTS_SWAPPED", text, turn_no, one)
        for one in told.added:
            self._found("EVENT_ADDED", "It is not among what was sealed.", turn_no, one)
        missing = [seq for group, seq in told.missing if not self.cuts.took(group, at)]
        numbers = [seq for seq in missing if seq is not None][:20]
        for seq in numbers:
            self.findings.append(Finding("EVENT_MISSING", self.key, "It was taken out.", turn_no, seq))
        if others := len(missing) - len(numbers):
            self._found("EVENT_MISSING", f"{others} events were taken out.", turn_no=turn_no)
        if not told and sure:
            self._found("EVENT_CHANGED", "One of the events is not as it was written.", turn_no=turn_no)

    def _group(self, turn_no: int | None, seal: Seal, group: str, found: Sequence[bytes], at: Any) -> None:
        assert seal.salt is not None
        if _fits(seal, seal.salt, group, found):
            return
        wrong = list(places(seal.marks.get(group, ()), found))
        if all(now is None for _, now in wrong) and wrong and self.cuts.took(group, at):
            return
        code, what = _BESIDE[group]
        told = ", ".join(f"{what} {(now if now is not None else sealed or 0) + 1}" for sealed, now in wrong[:5])
        self._found(code, f"Changed, added or taken out: {told or what}.", turn_no=turn_no)

    def _additions(self) -> None:
        expected, number = GENESIS, 0
        for link in self.about.links:
            number += 1
            turn_no = link.turn_no
            try:
                seal = Seal.read(link.chain)
            except ValueError as fault:
                self._found("SEAL_MISSING", f"Addition {link.number}: {fault}", turn_no)
                return
            if link.number != number or seal.previous != expected:
                self._found("CHAIN_BROKEN", f"Addition {link.number} does not follow from the one before it.", turn_no)
                number = link.number
            expected = seal.hash(link_frame(link))
            self._addition(link, seal)

    def _addition(self, link: CeChainLink, seal: Seal) -> None:
        if seal.salt is None:
            if link.number > self.about.erased_links:
                text = f"Addition {link.number} was emptied like an erased one; no erasure is recorded."
                self._found("ERASED_WITHOUT_RECORD", text, turn_no=link.turn_no)
            return
        place = link.turn_id, link.turn_no
        own = [one for one in self.extras[place] if link.first_seq <= one.seq <= seal.last_seq]
        self.extras[place] = [one for one in self.extras[place] if one not in own]
        found = by_group(own)
        if any(not _fits(seal, seal.salt, group, found[group]) for group in OF_EVENTS):
            told = differences(seal.marks, own, range(link.first_seq, seal.last_seq + 1))
            self._events(link.turn_no, told, link.created_at)
        count = len(seal.marks.get(CALLS, ()))
        calls = self.calls[link.turn_id]
        self._group(link.turn_no, seal, CALLS, calls[:count], link.created_at)
        del calls[:count]

    def _unknown(self, is_there: bool) -> None:
        """What stands there and no seal knows."""
        for (turn_id, turn_no), events in self.extras.items():
            if not events or (turn_id is not None and turn_id == self.about.running):
                continue
            if turn_no is not None and turn_no not in self.numbers and is_there:
                self._found("RECORD_MISSING", "Events of the turn are there, its record is not.", turn_no=turn_no)
                continue
            for one in events[:5]:
                self._found("EVENT_ADDED", "It is not among what was sealed.", turn_no, one)
        for turn_id, calls in self.calls.items():
            if calls and turn_id != self.about.running:
                self._found("MODEL_CALLS_CHANGED", f"{len(calls)} model calls are not among what was sealed.")

    def _found(self, code: str, message: str, turn_no: int | None = None, event: Piece | None = None) -> None:
        seq, stage = (event.seq, event.stage) if event else (None, None)
        self.findings.append(Finding(code, self.key, message, turn_no, seq, stage))


_BESIDE = {DECIDED: ("DECIDING_ROWS_CHANGED", "deciding row"), CALLS: ("MODEL_CALLS_CHANGED", "model call")}


def _fits(seal: Seal, salt: bytes, group: str, pieces: Sequence[bytes]) -> bool:
    """True when a group is as it was sealed."""
    if not pieces:
        return group not in seal.digests
    return group in seal.digests and digest(salt, pieces) == seal.digests[group]
