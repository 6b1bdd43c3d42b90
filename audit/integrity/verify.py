"""Verify the audit trail: one conversation or all, reading everything once; and the views that SQL tools read."""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from audit.integrity.chain_walk import ChainWalk, ReleaseHashes
from audit.integrity.chains import list_entries, verify_chains
from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.ledger import compare_ledger
from audit.integrity.read_record import (
    TURNS,
    ConversationFacts,
    Ledger,
    RetentionCuts,
    read_chunks,
    read_conversation_facts,
)
from audit.integrity.signed_rows import verify_rows, verify_rows_of
from audit.record.sql_views import VIEWS, list_changed_functions, list_view_stmts
from convengine.server.interfaces.release_history import ConfigurationReport, release_history

FIRST, LAST = uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)
#: Maximum findings of one run.
MAX_FINDINGS = 1000
_COUNTS = ("conversations", "turns", "erased", "releases", "blobs", "history_rows", "log_entries", "roots")


class UnknownConversation(LookupError):
    """The record does not have this conversation or turn. The message names it."""


@dataclass
class VerificationReport:
    conversations: int = 0
    turns: int = 0
    #: Erased turns.
    erased: int = 0
    #: Releases, their blobs, rows of history, entries of logs, and roots of the ledger.
    releases: int = 0
    blobs: int = 0
    history_rows: int = 0
    log_entries: int = 0
    roots: int = 0
    #: Conversations with findings, and findings about other tables.
    damaged: int = 0
    #: At most MAX_FINDINGS of them.
    findings: list[IntegrityFinding] = field(default_factory=list)

    @property
    def intact(self) -> bool:
        return not self.damaged

    def add(self, walk: ChainWalk) -> None:
        self.conversations += 1
        self.turns += walk.turns
        self.erased += walk.erased
        self.damaged += bool(walk.findings)
        self.findings += walk.findings[: MAX_FINDINGS - len(self.findings)]

    def merge(self, other: "VerificationReport") -> None:
        for name in (*_COUNTS, "damaged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.findings += other.findings[: MAX_FINDINGS - len(self.findings)]

    def add_findings(self, findings: Iterable[IntegrityFinding]) -> None:
        for finding in findings:
            self.damaged += 1
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(finding)

    def add_configuration(self, configuration: ConfigurationReport) -> None:
        self.releases += configuration.releases
        self.blobs += configuration.blobs
        self.history_rows += configuration.history_rows
        self.add_findings(
            create_table_finding(finding.code, finding.table, finding.row, finding.message)
            for finding in configuration.findings
        )

    def as_json(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in (*_COUNTS, "damaged")}
        return {"intact": self.intact, **counts, "findings": [finding.as_json() for finding in self.findings]}

    def summary(self) -> str:
        """The result and the counts in one sentence, without the findings."""
        looked = f"{self.turns:,} turns of {self.conversations:,} conversations"
        counts = f"{looked} ({self.erased:,} erased)" if self.erased else looked
        if self.releases:
            counts += f", {self.releases:,} releases with {self.history_rows:,} rows of history"
        if self.log_entries:
            counts += f", {self.log_entries:,} log entries, {self.roots:,} daily roots"
        if self.intact:
            return f"Intact: {counts}."
        return f"NOT INTACT: {counts}; {self.damaged:,} conversations or other rows were changed."


def verify_conversation(conversation_id: uuid.UUID, turn_no: int | None = None) -> VerificationReport:
    """Verify one conversation, with the releases of its turns.

    With `turn_no`, the report leaves out the findings about other turns, and what the ledger and the rows with proofs
    say of the conversation as a whole. Raises UnknownConversation, also for a turn that it does not have.
    """
    report = VerificationReport()
    with _repeatable_read():
        walk = _walk_chain(conversation_id)
        findings = [*compare_ledger(Ledger.read(), conversation_id), *verify_rows_of(conversation_id)]
        configuration = release_history().verify(walk.versions)
    if not walk.exists and not findings:
        raise UnknownConversation(f"There is no conversation {conversation_id}.")
    if turn_no is not None:
        known = walk.turn_numbers | {finding.turn_no for finding in (*walk.findings, *findings)}
        if turn_no not in known:
            raise UnknownConversation(f"Conversation {conversation_id} has no turn {turn_no}.")
        walk.findings = [finding for finding in walk.findings if finding.turn_no in (turn_no, None)]
    report.add(walk)
    report.add_findings(finding for finding in findings if turn_no in (None, finding.turn_no))
    report.add_configuration(configuration)
    return report


def verify_other_tables() -> VerificationReport:
    """Verify what is stored besides conversations: releases, histories, logs, the ledger, and the views."""
    report = VerificationReport()
    with _repeatable_read():
        report.add_configuration(release_history().verify())
        ledger = Ledger.read()
        report.add_findings(verify_chains(ledger))
        report.add_findings(compare_ledger(ledger))
        report.add_findings(verify_rows(ledger))
        report.log_entries, report.roots = sum(rows.count() for rows in list_entries()), len(ledger.roots)
    report.add_findings(verify_views())
    return report


def verify_range(after: uuid.UUID | None = None, last: uuid.UUID = LAST) -> Iterator[VerificationReport]:
    """Verify the conversations after `after` up to `last`, with a report for each part.

    A conversation with findings is verified once more, at one moment, because a turn may have committed meanwhile.
    """
    cuts = RetentionCuts.read()
    for walks in _walk_chains(after, last, cuts):
        report = VerificationReport()
        for walk in walks:
            if not walk.findings:
                report.add(walk)
                continue
            with _repeatable_read():
                report.add(_walk_chain(walk.key))
        yield report


def _walk_chain(key: uuid.UUID) -> ChainWalk:
    """The walk of one conversation, which is empty if nothing is stored of it."""
    cuts = RetentionCuts.read()
    all_walks = [walk for walks in _walk_chains(None, key, cuts, only=True) for walk in walks]
    return all_walks[0] if all_walks else ChainWalk(key, cuts, ConversationFacts(), ReleaseHashes())


@contextmanager
def _repeatable_read() -> Iterator[None]:
    """All statements see the moment of the first one, without blocking or waiting.

    Inside an open transaction this does nothing. Otherwise it ends with a rollback, so nothing may be written in it.
    """
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
    """The walks of whole conversations after `after` up to `last`, in order; with `only`, of `last` alone.

    They come in batches, one for each chunk of turns that is read.
    """
    walks: dict[uuid.UUID, ChainWalk] = {}
    releases = ReleaseHashes()
    start = last if only else (after or FIRST)
    for rows in read_chunks(after, last, only):
        is_last = len(rows) < TURNS
        end = last if is_last else rows[-1]["conversation_id"]
        facts = read_conversation_facts(start, end)
        for key in sorted({*facts, *(row["conversation_id"] for row in rows)} - {after, *walks}):
            walks[key] = ChainWalk(key, cuts, facts.get(key, ConversationFacts()), releases)
        for row in rows:
            walks[row["conversation_id"]].check_turn(row)
        # The next batch may go on with the last conversation.
        goes_on = {} if is_last else {end: walks.pop(end)}
        for walk in walks.values():
            walk.finish()
        yield list(walks.values())
        start, walks = end, goes_on


def verify_views() -> Iterator[IntegrityFinding]:
    """Report the views and their functions whose definitions were changed or removed."""
    statements = list_view_stmts(connection.vendor)
    read = _read_postgresql if connection.vendor == "postgresql" else _read_sqlite
    for name, statement in zip(VIEWS, statements, strict=True):
        stored, expected = read(name, statement)
        if stored is None:
            yield create_table_finding("VIEW_CHANGED", name, "definition", "The view was removed.")
        elif stored != expected:
            text = "Its definition is not the product's, so it may show other data than the record has."
            yield create_table_finding("VIEW_CHANGED", name, "definition", text)
    for name in list_changed_functions():
        text = "The function of the views is not the product's, so they may show other data than the record has."
        yield create_table_finding("VIEW_CHANGED", name, "definition", text)


def _read_postgresql(name: str, statement: str) -> tuple[str | None, str]:
    """The stored definition, None if there is no such view, and that of a temporary one made by `statement`."""
    temporary = f"{name}_expected"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_viewdef(to_regclass(%s), false)", [name])
        (stored,) = cursor.fetchone()
        sql = statement.replace(f"CREATE OR REPLACE VIEW {name} AS", f"CREATE TEMPORARY VIEW {temporary} AS", 1)
        cursor.execute(sql, None)
        cursor.execute("SELECT pg_get_viewdef(to_regclass(%s), false)", [temporary])
        (expected,) = cursor.fetchone()
        cursor.execute(f"DROP VIEW {temporary}")
    return stored, expected


def _read_sqlite(name: str, statement: str) -> tuple[str | None, str]:
    """The stored statement of a view, None if there is no such view, and the product's one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = %s", [name])
        row = cursor.fetchone()
    return _normalize(row[0]) if row else None, _normalize(statement)


def _normalize(sql: str) -> str:
    return " ".join(sql.replace("IF NOT EXISTS ", "", 1).split())
