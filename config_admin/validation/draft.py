"""A row on the table: what a check looks at, and how it says what it found."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from config_admin.validation.findings import Finding, Severity
from config_admin.validation.world import World
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot, Table

R = TypeVar("R", bound=Row)
S = TypeVar("S", bound=Row)


@dataclass(frozen=True)
class Draft(Generic[R]):
    """One row as its editor wants it, beside the configuration in force and the installation."""

    row: R
    snapshot: Snapshot
    world: World
    #: The stored row that this one takes the place of, where its key changed.
    replaces: Row | None = None

    def error(self, code: str, field: str | None, message: str) -> Finding:
        """A finding that keeps the row from being saved."""
        return self._finding(Severity.ERROR, code, field, message)

    def warning(self, code: str, field: str | None, message: str) -> Finding:
        """A finding that the editor may accept."""
        return self._finding(Severity.WARNING, code, field, message)

    def others(self, found: Iterable[S]) -> Iterator[S]:
        """The rows but for the stored form of this one."""
        own, key = type(self.row), self.row.pk
        return (row for row in found if row.pk != key or type(row) is not own)

    def _finding(self, severity: Severity, code: str, field: str | None, message: str) -> Finding:
        return Finding(code, severity, self.row.table, self.row.pk, field, message)


#: Looks at a draft and says what is wrong with it.
Check = Callable[[Draft[Any]], Iterable[Finding]]


def overlaid(snapshot: Snapshot, drafts: Mapping[Any, Row]) -> Snapshot:
    """The configuration with some rows of one table, by primary key, as their editor wants them."""
    if not drafts:
        return snapshot
    table = snapshot.tables[next(iter(drafts.values())).table]
    bad = {pk: found for pk, found in table.unreadable.items() if pk not in drafts}
    laid = Table(table.name, (drafts.get(row.pk, row) for row in table.rows), bad)
    return Snapshot(snapshot.config_version, {**snapshot.tables, table.name: laid}, snapshot.defaults)
