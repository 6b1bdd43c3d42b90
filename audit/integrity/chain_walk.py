"""Verify one conversation's chain: each turn and each addition with its seal, each seal with the one before."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from audit import seal as seals
from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.read_record import INDEX, ConversationFacts, RetentionCuts, Row
from audit.record.document_parts import encode_stored_document
from audit.record.events import parse_entries
from audit.record.turn_index import are_of_rows, hash_entries, parse_index_entries
from audit.seal import GENESIS, Seal, encode_parts
from convengine.engine.steps.actions.stages import PENDING_ACTION_EXECUTED, PENDING_ACTION_FAILED
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CePendingActionExecution

#: The key of a run of an action in events, and how it ended; the events of a task of a rule do not tell.
_RUN = "executionId"
_ENDS: Mapping[str, str] = {PENDING_ACTION_EXECUTED: "EXECUTED", PENDING_ACTION_FAILED: "FAILED"}
_RESTORE = "Restore the row from a backup."
_NO_ENTRIES = hash_entries(())


class ReleaseHashes(dict[int, str]):
    """The content hash of each release, read once per run."""

    def __missing__(self, version: int) -> str:
        self[version] = configuration().content_hash(version)
        return self[version]


def _list_missing(row: Row, seal: Seal, entries: Sequence[Any]) -> list[int]:
    """The numbers that no event has. Empty where events may lawfully be missing, and for a document without events."""
    seqs = {entry["seq"] for entry in entries}
    if seal.cuts or not seqs or any("auditFiltered" in (entry.get("payload") or ()) for entry in entries):
        return []
    first = 1 if row["source"] != "ADDITION" or row["turn_no"] is None else min(seqs)
    return sorted(set(range(first, row["last_seq"] + 1)) - seqs)


def _list_runs(events: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Stage and payload of the runs of actions of a turn; almost all turns have none, and are not parsed."""
    for entry in (parse_entries(events) or ()) if events and _RUN in events else ():
        payload = entry.get("payload") if isinstance(entry, dict) else None
        if isinstance(payload, dict) and isinstance(payload.get(_RUN), int):
            yield str(entry.get("stage")), payload


@dataclass
class ChainWalk:
    """A walk through the turns of one conversation, in order."""

    key: uuid.UUID
    cuts: RetentionCuts
    facts: ConversationFacts
    releases: ReleaseHashes
    findings: list[IntegrityFinding] = field(default_factory=list)
    turns: int = 0
    erased: int = 0
    #: The numbers and the releases of its turns.
    turn_numbers: set[int] = field(default_factory=set)
    versions: set[int] = field(default_factory=set)
    #: Number and hash of the last seal.
    last: tuple[int, bytes] | None = None
    #: The additions of turns that were not walked yet.
    _additions: dict[uuid.UUID, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for row in self.facts.additions:
            if row["turn_id"] is not None:
                self._additions[row["turn_id"]].append(row)

    @property
    def exists(self) -> bool:
        """True when anything is stored of the conversation."""
        return bool(self.facts.exists or self.turns or self.facts.additions or self.facts.erased_turns)

    def check_turn(self, row: Row) -> None:
        """Verify the next turn: its place in the chain, its content, its runs of actions, and its index.

        The runs of an erased turn are not compared.
        """
        self.turns += 1
        self.turn_numbers.add(row["turn_no"])
        self.versions.add(row["config_version"])
        if seal := self._read_seal(row):
            self._check_order(row["turn_no"], seal)
            self.last = row["turn_no"], seal.hash
            self.erased += bool(seal.cuts & seals.ERASED)
            is_erasure_known = row["turn_no"] <= self.facts.erased_turns
            self._check_row(row, seal, is_erasure_known=is_erasure_known)
            if not is_erasure_known:
                self._check_executions(row)
        self._check_index([row, *self._additions.pop(row["turn_id"], [])])

    def finish(self) -> None:
        """Verify the rest: the head, and the additions."""
        head = self.last[1] if self.last else (self.facts.base[1] if self.facts.base else None)
        if self.facts.exists and head != self.facts.head:
            newest = self.facts.last_turn_no
            if self.last and newest == self.last[0]:
                text = "Its data or its seal does not match the latest seal of the conversation."
                self._add_finding("RECORD_CHANGED", text, newest)
            else:
                which = f"turns after {self.last[0] if self.last else 0}"
                text = f"The latest seal of the conversation does not match: {which} were removed or replaced."
                self._add_finding("END_CUT", text, newest)
        if not self.facts.exists and (self.turns or self.facts.additions):
            self._add_finding("CONVERSATION_MISSING", "Its turns still exist, but the conversation was removed.")
        if not self.facts.is_genuine:
            text = "The product did not write whose conversation it is: participant, channel, workspace or opener."
            self._add_finding("CONVERSATION_CHANGED", text)
        self._check_additions()
        for rows in self._additions.values():
            self._check_index(rows)

    def _read_seal(self, row: Row) -> Seal | None:
        """The seal of a row. Adds a finding and returns None if the row has no seal or a damaged one."""
        if row["seal"] is None:
            self._add_finding("SEAL_MISSING", "The turn record has no seal (hash).", row["turn_no"])
            return None
        try:
            return Seal.read(row["seal"])
        except ValueError as fault:
            self._add_finding("SEAL_MISSING", str(fault), row["turn_no"])
            return None

    def _check_order(self, turn_no: int, seal: Seal) -> None:
        """Verify that the seal of a turn follows from the seal before it, or begins the chain."""
        before = self.last or self.facts.base
        if seal.previous == (before[1] if before else GENESIS):
            return
        first = (before[0] if before else 0) + 1
        if first < turn_no:
            which = f"turn {first}" if first == turn_no - 1 else f"one of the turns {first} to {turn_no - 1}"
            text = f"The record of {which} was removed: turn {turn_no} does not follow from the previous turn."
            self._add_finding("RECORD_MISSING", text, first)
        elif before:
            text = f"Its data or its seal does not match the seal of turn {turn_no}."
            self._add_finding("RECORD_CHANGED", text, before[0])
        else:
            self._add_finding("CHAIN_BROKEN", "The first turn is not the start of a chain.", turn_no)

    def _check_row(self, row: Row, seal: Seal, *, is_erasure_known: bool) -> None:
        """Verify the content of a sealed row, and that what was cut from it was removed lawfully.

        `is_erasure_known`: a genuine erasure of the conversation covers the row.
        """
        # A row that lost no part is verified as a whole, without parsing its events.
        document = encode_stored_document(row["events"]) if seal.cuts else ()
        parts = encode_parts(row, self.releases[row["config_version"]], document)
        if not seal.matches(parts):
            parts = parts._replace(document=encode_stored_document(row["events"]))
            self._report_differences(row, seal, seal.differing(parts))
        is_lawful = is_erasure_known if seal.cuts & seals.ERASED else self.cuts.explains(seal.cuts, row["created_at"])
        if not is_lawful:
            text = "Content of the turn was removed, but no erasure or retention is recorded."
            self._add_finding("ERASED_WITHOUT_RECORD", text, row["turn_no"])

    def _check_executions(self, row: Row) -> None:
        """Compare the runs of actions with what the events of their turn say of them."""
        may_be_removed = self.cuts.explains_missing_turn(row["created_at"])
        for stage, payload in _list_runs(row["events"]):
            key = payload[_RUN]
            # A session that went on in the next conversation has its runs there.
            elsewhere = CePendingActionExecution.objects.filter(pk=key).values_list("status", flat=True)
            status = self.facts.executions.get(key) or elsewhere.first()
            if status is None:
                code, text = "ROW_MISSING", "It is gone"
                # A run of an earlier turn may have been removed with it.
                is_lawful = may_be_removed or bool(payload.get("reused")) or key in self.cuts.erased_executions
            else:
                code, text = "ROW_CHANGED", status
                is_lawful = _ENDS.get(stage) in (None, status)
            if not is_lawful:
                text = f"{text}, but turn {row['turn_no']} of {self.key} has {stage}."
                table = CePendingActionExecution._meta.db_table
                self.findings.append(create_table_finding(code, table, key, text))

    def _report_differences(self, row: Row, seal: Seal, differing: Sequence[str]) -> None:
        """Report that a row does not match its seal; `differing` names the parts. Without any, the seal was changed."""
        turn_no = row["turn_no"]
        if "events" in differing:
            self._report_events(row, seal)
        others = [name for name in differing if name != "events"]
        if others:
            names = {"header": "its columns", "recording": "its recording"}
            self._add_finding("RECORD_CHANGED", f"Changed: {', '.join(names[name] for name in others)}.", turn_no)
        if not differing:
            text = "Its seal, or the content hash of its release, was changed."
            self._add_finding("RECORD_CHANGED", text, turn_no)

    def _report_events(self, row: Row, seal: Seal) -> None:
        """Report what is wrong with the events of a row, as far as their numbers tell: at most 20 missing ones."""
        stored = parse_entries(row["events"])
        if stored is None:
            text = f"They are not a JSON list, so nobody can read them. {_RESTORE}"
            self._add_finding("EVENTS_UNREADABLE", text, row["turn_no"])
            return
        entries = [
            entry
            for entry in stored
            if isinstance(entry, dict) and entry.get("stage") and type(entry.get("seq")) is int
        ]
        reported = len(self.findings)
        for seq in _list_missing(row, seal, entries)[:20]:
            self.findings.append(IntegrityFinding("EVENT_MISSING", self.key, "It was removed.", row["turn_no"], seq))
        for before, entry in pairwise([{"seq": 0}, *entries]):
            number, stage = entry["seq"], str(entry.get("stage"))
            if number == before["seq"] or number > row["last_seq"]:
                text = "It was added after the turn was sealed."
                self.findings.append(IntegrityFinding("EVENT_ADDED", self.key, text, row["turn_no"], number, stage))
            elif number < before["seq"]:
                text = f"It and event {before['seq']} {before.get('stage')} were swapped."
                self.findings.append(IntegrityFinding("EVENTS_SWAPPED", self.key, text, row["turn_no"], number, stage))
        if len(self.findings) == reported:
            self._add_finding("EVENT_CHANGED", "The events of the turn do not match its seal.", row["turn_no"])

    def _check_additions(self) -> None:
        """Verify the additions, which are a chain of their own. One without a seal is reported, and left out of it."""
        expected = GENESIS
        for row in self.facts.additions:
            seal = self._read_seal(row)
            if seal is None:
                continue
            if seal.previous != expected and not self.cuts.explains_missing_turn(row["created_at"]):
                self._add_finding("CHAIN_BROKEN", "The addition does not follow from the one before it.")
            expected = seal.hash
            self._check_row(row, seal, is_erasure_known=row["history_id"] <= self.facts.erased_additions)

    def _check_index(self, rows: Sequence[Row]) -> None:
        """Verify the index entries of a turn, which are those of its rows."""
        expected = [
            (
                _NO_ENTRIES if row["index_hash"] is None else row["index_hash"],
                self.cuts.explains(seals.CONTENTS, row["created_at"]),
            )
            for row in rows
        ]
        if not are_of_rows(parse_index_entries(rows[0][INDEX]), expected):
            text = "The index of its deciding rows and stages is not the one that was sealed with it."
            self._add_finding("DECIDING_ROWS_CHANGED", text, rows[0]["turn_no"])

    def _add_finding(self, code: str, message: str, turn_no: int | None = None) -> None:
        self.findings.append(IntegrityFinding(code, self.key, message, turn_no))
