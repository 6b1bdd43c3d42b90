"""A draft: the input of a check, and its findings, in one form for edit pages, import, API and health."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from config_admin.validation.world import World
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot, Table


class Severity(StrEnum):
    """ERROR: the row is not saved. WARNING: it is saved after the editor confirms once."""

    ERROR = "ERROR"
    WARNING = "WARNING"


@dataclass(frozen=True)
class Finding:
    """One error or warning about one row."""

    code: str
    severity: Severity
    table: str
    #: The primary key. None for a new row.
    row: Any
    #: The column of the message. None for the row as a whole.
    field: str | None
    message: str
    _: KW_ONLY
    #: The translation that it is about, by language and place, `de/exact_text`, or its language; blank for none.
    translation: str = ""

    @property
    def is_error(self) -> bool:
        """True when the row must not be saved."""
        return self.severity is Severity.ERROR

    def as_dict(self) -> dict[str, Any]:
        """The finding for imports and the API."""
        return {
            "table": self.table,
            "row": self.row,
            "field": self.field,
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
        }


R = TypeVar("R", bound=Row)
S = TypeVar("S", bound=Row)


@dataclass(frozen=True)
class Draft(Generic[R]):
    """One row as its editor wants it, with the configuration in force and the installation."""

    row: R
    snapshot: Snapshot
    world: World
    #: The stored row that this one replaces, if its key changed.
    replaces: Row | None = None

    def error(self, code: str, field: str | None, message: str, translation: str = "") -> Finding:
        """A finding that prevents saving the row."""
        return self._finding(Severity.ERROR, code, field, message, translation)

    def warning(self, code: str, field: str | None, message: str, translation: str = "") -> Finding:
        """A finding that the editor may accept."""
        return self._finding(Severity.WARNING, code, field, message, translation)

    def others(self, candidates: Iterable[S]) -> Iterator[S]:
        """The rows except the stored form of this one."""
        own, key = type(self.row), self.row.pk
        return (row for row in candidates if row.pk != key or type(row) is not own)

    def _finding(self, severity: Severity, code: str, field: str | None, message: str, translation: str) -> Finding:
        return Finding(code, severity, self.row.table, self.row.pk, field, message, translation=translation)


#: Checks a draft and returns findings.
Check = Callable[[Draft[Any]], Iterable[Finding]]


class SaveChecks(NamedTuple):
    """The checks of one table before a row is saved, beyond those that follow from its columns."""

    #: Is the row well formed by itself?
    form: tuple[Check, ...] = ()
    #: Is the step from the stored row to this one allowed?
    change: tuple[Check, ...] = ()
    #: Does a well-formed row fit the others?
    fit: tuple[Check, ...] = ()
    #: Checks of how a row fits the others that are slow in large configurations.
    slow: tuple[Check, ...] = ()


def overlaid(snapshot: Snapshot, drafts: Mapping[Any, Row]) -> Snapshot:
    """The configuration with some changed rows of one table, by primary key."""
    if not drafts:
        return snapshot
    table = snapshot.tables[next(iter(drafts.values())).table]
    bad = {pk: problems for pk, problems in table.unreadable.items() if pk not in drafts}
    laid = Table(table.name, (drafts.get(row.pk, row) for row in table.rows), bad)
    return Snapshot(snapshot.config_version, {**snapshot.tables, table.name: laid}, snapshot.defaults)
