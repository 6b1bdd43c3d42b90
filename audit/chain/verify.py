"""Is the record as it was written? One conversation, or all of them, at the cost of reading them once."""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from audit.chain.about import About, Cuts, about
from audit.chain.conversation import Walk
from audit.chain.findings import Finding
from audit.chain.reading import TURNS, Chunk, chunks

FIRST, LAST = uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)
#: So many findings are kept of one walk.
MOST = 1000
_COUNTS = ("conversations", "turns", "erased", "unsealed")


@dataclass
class Report:
    """What was looked at, and what is wrong with it."""

    conversations: int = 0
    turns: int = 0
    #: Turns whose contents were erased, and of the time before there were seals.
    erased: int = 0
    unsealed: int = 0
    damaged: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def intact(self) -> bool:
        """True when nothing is wrong."""
        return not self.damaged

    def add(self, walk: Walk) -> None:
        """What one conversation gave."""
        self.conversations += 1
        self.turns += walk.turns
        self.erased += walk.erased
        self.unsealed += walk.unsealed
        self.damaged += bool(walk.findings)
        self.findings += walk.findings[: MOST - len(self.findings)]

    def merge(self, other: "Report") -> None:
        """Another report's."""
        for name in (*_COUNTS, "damaged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.findings += other.findings[: MOST - len(self.findings)]

    def hold(self, findings: Iterator[Finding]) -> None:
        """What an anchor differs in."""
        for one in findings:
            self.damaged += 1
            if len(self.findings) < MOST:
                self.findings.append(one)

    def told(self) -> dict[str, Any]:
        """As JSON."""
        counts = {name: getattr(self, name) for name in (*_COUNTS, "damaged")}
        return {"intact": self.intact, **counts, "findings": [one.told() for one in self.findings]}

    def sentence(self) -> str:
        """For people."""
        looked = f"{self.turns:,} turns of {self.conversations:,} conversations"
        beside = ((self.erased, "erased"), (self.unsealed, "without seals"))
        joined = ", ".join(f"{count:,} {what}" for count, what in beside if count)
        told = f"{looked}{f' ({joined})' if joined else ''}"
        if self.intact:
            return f"Intact: {told}."
        return f"NOT INTACT: {told}; {self.damaged:,} conversations differ from what was written."


def one(conversation_id: uuid.UUID) -> Report:
    """One conversation."""
    report = Report()
    report.add(_surely(conversation_id))
    return report


def between(after: uuid.UUID | None = None, last: uuid.UUID = LAST) -> Iterator[Report]:
    """The conversations behind `after` up to `last`, part by part."""
    cuts = Cuts.read()
    for walks in _walks(after, last, cuts):
        report = Report()
        for walk in walks:
            report.add(_surely(walk.key) if walk.findings else walk)
        yield report


def _surely(key: uuid.UUID) -> Walk:
    """One conversation as it stood at one moment: turns that are committed while it is read look like damage."""
    with _one_moment():
        cuts = Cuts.read()
        found = [walk for walks in _walks(None, key, cuts, only=True) for walk in walks]
    return found[0] if found else Walk(key, cuts, About())


@contextmanager
def _one_moment() -> Iterator[None]:
    """Everything is read as it stood at the first statement. Nobody waits for that, and it waits for nobody."""
    if connection.in_atomic_block:
        yield
        return
    here = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        # Django's own transactions would see each statement's moment, or keep others from writing.
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if here else "BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _walks(after: uuid.UUID | None, last: uuid.UUID, cuts: Cuts, *, only: bool = False) -> Iterator[list[Walk]]:
    """Conversations in order, whole, as many at a time as a few hundred turns have."""
    goes_on: Walk | None = None
    start = last if only else (after or FIRST)
    for chunk in chunks(after, last, only):
        full = len(chunk.records) == TURNS
        end = chunk.records[-1]["conversation_id"] if full else last
        known, records = about(start, end), _by_conversation(chunk)
        keys = {*known, *records, *(key for key, _ in chunk.events)}
        if goes_on is None and not only:
            keys.discard(start)
        done = []
        for key in sorted(keys):
            walk = goes_on if goes_on and goes_on.key == key else Walk(key, cuts, known.get(key, About()))
            for record in records.get(key, ()):
                walk.turn(record, chunk)
            done.append(walk)
        by_key = {walk.key: walk for walk in done}
        for (key, turn_no), bundles in chunk.events.items():
            by_key[key].rest(turn_no, bundles)
        for (key, number, turn_id), calls in chunk.calls.items():
            if key in by_key:
                by_key[key].others(number, turn_id, calls)
        goes_on = done.pop() if full else None
        for walk in done:
            walk.end(is_there=walk.key in known and known[walk.key].there)
        start = end
        yield done


def _by_conversation(chunk: Chunk) -> dict[uuid.UUID, list[dict[str, Any]]]:
    found = defaultdict[uuid.UUID, list[dict[str, Any]]](list)
    for record in chunk.records:
        found[record["conversation_id"]].append(record)
    return found
