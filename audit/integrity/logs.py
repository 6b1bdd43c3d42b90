"""Verify the logs that are chained per day: feedback, the access log, and the ledger itself (R123)."""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from audit.integrity.findings import Finding, create_table_finding
from audit.integrity.ledger import Ledger
from audit.models import CeAccessLog, CeChainDay, CeLedger, CeMcpUserFeedback
from audit.models.chained import ChainedRow, LogSeal, day_of
from audit.seal import GENESIS
from convengine.server.database.unreadable import UNREADABLE, iterate_values, read_rows

LOGS: Sequence[type[ChainedRow]] = (CeAccessLog, CeMcpUserFeedback, CeLedger)
_DAYS = CeChainDay._meta.db_table


class _Link(NamedTuple):
    """An entry, or the gap that a recorded removal left."""

    pk: int
    day: date
    #: Null for an entry without a readable seal.
    previous: bytes | None
    hash: bytes
    is_whole: bool = True


@dataclass
class _DayWalk:
    """The walk through one day."""

    #: The hash of the last entry; null after an unreadable one.
    last: bytes | None = GENESIS
    rows: int = 0
    has_gap: bool = False
    #: The hash at each position that a root lists.
    passed: dict[int, bytes | None] = field(default_factory=dict)


def verify_logs(ledger: Ledger) -> Iterator[Finding]:
    """Verify all logs."""
    for model in LOGS:
        yield from _verify_log(model, ledger)
    yield from _verify_replacements()


def count_entries() -> int:
    """The number of entries of all logs."""
    return sum(model._default_manager.count() for model in LOGS)


def _verify_log(model: type[ChainedRow], ledger: Ledger) -> Iterator[Finding]:
    table = model._meta.db_table
    days = {}
    for row in read_rows(CeChainDay.objects.filter(log=table)):
        if row.day == UNREADABLE:
            yield create_table_finding("LOG_CHANGED", _DAYS, row.pk, f"A day of {table} was changed.")
        else:
            days[row.day] = row
    walks: dict[date, _DayWalk] = defaultdict(_DayWalk)
    listed = ledger.list_days(table)
    gaps = (_Link(pk, day, previous, digest) for pk, day, previous, digest in sorted(ledger.list_gaps(table)))
    for link in heapq.merge(_read_links(model), gaps, key=lambda link: link.pk):
        walk = walks[link.day]
        walk.rows += 1
        if not link.is_whole:
            yield create_table_finding("LOG_CHANGED", table, link.pk, "It does not match its seal.")
        if link.previous is not None and walk.last is not None and link.previous != walk.last:
            walk.has_gap = True
            text = f"Entries of {link.day} before it were removed, or it was added."
            yield create_table_finding("LOG_MISSING", table, link.pk, text)
        walk.last = link.hash if link.previous is not None else None
        if walk.rows in listed.get(link.day, {}):
            walk.passed[walk.rows] = walk.last
    for day in sorted({*days, *walks, *listed}):
        yield from _verify_day(table, day, days.get(day), walks[day], listed.get(day, {}))
    yield from _verify_days(table, days)


def _read_links(model: type[ChainedRow]) -> Iterator[_Link]:
    day = date.min
    for row in iterate_values(model._base_manager.all(), "seal", *model.SEALED, *model.SEALED_JSON):
        if "seal" not in row:
            # A value that cannot be read; entries are in the order of time.
            yield _Link(row["pk"], day, None, b"", is_whole=False)
            continue
        day = day_of(row["created_at"])
        try:
            seal = LogSeal.read(row["seal"])
        except ValueError:
            yield _Link(row["pk"], day, None, b"", is_whole=False)
            continue
        yield _Link(row["pk"], day, seal.previous, seal.hash, seal.matches(model.encode_values(row)))


def _verify_day(
    table: str, day: date, row: CeChainDay | None, walk: _DayWalk, listed: Mapping[int, bytes]
) -> Iterator[Finding]:
    if row is None:
        yield create_table_finding("LOG_MISSING", table, day, f"The end of the chain of {day} was removed.")
        return
    if not row.is_genuine():
        yield create_table_finding(
            "LOG_CHANGED", _DAYS, row.pk, f"The end of the chain of {table} on {day} was changed."
        )
        return
    if row.removed:
        return
    missing = row.rows - walk.rows
    if missing > 0 and not (walk.has_gap and walk.last == bytes(row.head)):
        text = f"{missing} of {row.rows} entries of {day} were removed."
        yield create_table_finding("LOG_MISSING", table, day, text)
    elif missing == 0 and walk.last is not None and walk.last != bytes(row.head):
        yield create_table_finding("LOG_CHANGED", table, day, f"The last entry of {day} was replaced.")
    elif missing < 0:
        yield create_table_finding("LOG_CHANGED", table, day, f"{-missing} entries of {day} were added.")
    for position, digest in listed.items():
        if missing <= 0 and walk.passed.get(position) not in (digest, None):
            text = f"Entry {position} of {day} is not the one that the ledger lists."
            yield create_table_finding("LEDGER_DIFFERS", table, day, text)


def _verify_days(table: str, days: Mapping[date, CeChainDay]) -> Iterator[Finding]:
    for row in days.values():
        before = row.previous_day
        if before not in (None, UNREADABLE) and before not in days:
            yield create_table_finding("LOG_MISSING", table, before, f"All entries of {before} were removed.")


def _verify_replacements() -> Iterator[Finding]:
    """Feedback counts as replaced only when the same person rated the turn again."""
    feedback = CeMcpUserFeedback.objects
    later = feedback.filter(turn_id=OuterRef("turn_id"), author=OuterRef("author"), pk__gt=OuterRef("pk"))
    for pk in feedback.exclude(replaced_at=None).exclude(Exists(later)).values_list("pk", flat=True):
        text = "It is marked as replaced, but nobody rated the turn again."
        yield create_table_finding("LOG_CHANGED", CeMcpUserFeedback._meta.db_table, pk, text)
