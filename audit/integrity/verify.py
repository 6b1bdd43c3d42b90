"""Verify the audit trail: one conversation or all, reading everything once."""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from audit.integrity.chain_walk import ChainWalk
from audit.integrity.conversation_facts import ConversationFacts, RetentionCuts, read_conversation_facts
from audit.integrity.findings import Finding
from audit.integrity.read_record import TURNS, TurnChunk, read_chunks

FIRST, LAST = uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)
#: Maximum findings of one run.
MAX_FINDINGS = 1000
_COUNTS = ("conversations", "turns", "erased", "unsealed")


@dataclass
class Report:
    """What was verified, and the findings."""

    conversations: int = 0
    turns: int = 0
    #: Erased turns, and turns from before there were seals.
    erased: int = 0
    unsealed: int = 0
    damaged: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def intact(self) -> bool:
        """True when nothing is wrong."""
        return not self.damaged

    def add(self, walk: ChainWalk) -> None:
        """Add the result of one conversation."""
        self.conversations += 1
        self.turns += walk.turns
        self.erased += walk.erased
        self.unsealed += walk.unsealed
        self.damaged += bool(walk.findings)
        self.findings += walk.findings[: MAX_FINDINGS - len(self.findings)]

    def merge(self, other: "Report") -> None:
        """Add another report."""
        for name in (*_COUNTS, "damaged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.findings += other.findings[: MAX_FINDINGS - len(self.findings)]

    def add_findings(self, findings: Iterator[Finding]) -> None:
        """Add the differences from an anchor."""
        for finding in findings:
            self.damaged += 1
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(finding)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON."""
        counts = {name: getattr(self, name) for name in (*_COUNTS, "damaged")}
        return {"intact": self.intact, **counts, "findings": [finding.as_json() for finding in self.findings]}

    def summary(self) -> str:
        """The report for people."""
        looked = f"{self.turns:,} turns of {self.conversations:,} conversations"
        beside = ((self.erased, "erased"), (self.unsealed, "without seals"))
        joined = ", ".join(f"{count:,} {what}" for count, what in beside if count)
        counts = f"{looked}{f' ({joined})' if joined else ''}"
        if self.intact:
            return f"Intact: {counts}."
        return f"NOT INTACT: {counts}; {self.damaged:,} conversations were changed."


def verify_conversation(conversation_id: uuid.UUID) -> Report:
    """Verify one conversation."""
    report = Report()
    report.add(_verify_at_one_moment(conversation_id))
    return report


def verify_range(after: uuid.UUID | None = None, last: uuid.UUID = LAST) -> Iterator[Report]:
    """Verify the conversations after `after` up to `last`, part by part."""
    cuts = RetentionCuts.read()
    for walks in _walk_chains(after, last, cuts):
        report = Report()
        for walk in walks:
            report.add(_verify_at_one_moment(walk.key) if walk.findings else walk)
        yield report


def _verify_at_one_moment(key: uuid.UUID) -> ChainWalk:
    """Verify one conversation in a consistent view: turns that commit meanwhile look like damage."""
    with _repeatable_read():
        cuts = RetentionCuts.read()
        all_walks = [walk for walks in _walk_chains(None, key, cuts, only=True) for walk in walks]
    return all_walks[0] if all_walks else ChainWalk(key, cuts, ConversationFacts())


@contextmanager
def _repeatable_read() -> Iterator[None]:
    """A consistent view of the first statement, without blocking or waiting."""
    if connection.in_atomic_block:
        yield
        return
    is_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        # Django's own transactions would see each statement's moment, or keep others from writing.
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if is_postgresql else "BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _walk_chains(
    after: uuid.UUID | None, last: uuid.UUID, cuts: RetentionCuts, *, only: bool = False
) -> Iterator[list[ChainWalk]]:
    """Whole conversations in order, in batches of a few hundred turns."""
    goes_on: ChainWalk | None = None
    start = last if only else (after or FIRST)
    for chunk in read_chunks(after, last, only):
        full = len(chunk.records) == TURNS
        end = chunk.records[-1]["conversation_id"] if full else last
        known, records = read_conversation_facts(start, end), _group_by_conversation(chunk)
        keys = {*known, *records, *(key for key, _ in chunk.events)}
        if goes_on is None and not only:
            keys.discard(start)
        done = []
        for key in sorted(keys):
            walk = (
                goes_on if goes_on and goes_on.key == key else ChainWalk(key, cuts, known.get(key, ConversationFacts()))
            )
            for record in records.get(key, ()):
                walk.check_turn(record, chunk)
            done.append(walk)
        by_key = {walk.key: walk for walk in done}
        for (key, turn_no), bundles in chunk.events.items():
            by_key[key].add_unrecorded_events(turn_no, bundles)
        for (key, number, turn_id), calls in chunk.calls.items():
            if key in by_key:
                by_key[key].add_other_calls(number, turn_id, calls)
        goes_on = done.pop() if full else None
        for walk in done:
            walk.finish(is_there=walk.key in known and known[walk.key].exists)
        start = end
        yield done


def _group_by_conversation(chunk: TurnChunk) -> dict[uuid.UUID, list[dict[str, Any]]]:
    by_conversation = defaultdict[uuid.UUID, list[dict[str, Any]]](list)
    for record in chunk.records:
        by_conversation[record["conversation_id"]].append(record)
    return by_conversation
