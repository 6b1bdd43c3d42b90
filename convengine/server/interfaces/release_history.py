"""The releases and their proofs, as the audit shows them: `config_admin` implements it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Protocol

from django.utils import formats, timezone

from convengine.engine.turn.snapshot import Snapshot
from convengine.server.deployment import conf


class GradualPeriod(NamedTuple):
    """When only a part of the conversations had a release."""

    began: datetime
    #: None while it runs.
    ended: datetime | None
    #: The release that the others had.
    parent_version: int


class ReleaseNote(NamedTuple):
    """What pages say about a release."""

    number: int
    #: Who made it, or where it came from.
    author: str
    at: datetime
    reason: str
    #: The page with its changes.
    url: str
    undo_url: str
    gradual: GradualPeriod | None = None


class ReleaseChanges(NamedTuple):
    """A release and the first rows that it changed, for a page."""

    note: ReleaseNote
    rows: Sequence[object]
    #: How many rows are not shown.
    more: int


class RowChange(Protocol):
    """A row that differs between two releases; None on a side without it."""

    @property
    def before(self) -> Mapping[str, Any] | None: ...

    @property
    def after(self) -> Mapping[str, Any] | None: ...

    @property
    def fields(self) -> Mapping[str, tuple[Any, Any]]:
        """Before and after of each changed column."""


class RowVersion(NamedTuple):
    """One entry of a row's history."""

    table: str
    pk: str
    history_id: int
    config_version: int
    #: `+` for added, `~` for changed, `-` for deleted.
    sign: str
    reason: str
    at: datetime
    made_by: str

    @property
    def when(self) -> str:
        """The time for people."""
        return formats.date_format(timezone.localtime(self.at), "DATETIME_FORMAT")

    @property
    def is_deleted(self) -> bool:
        """True if the release deleted the row."""
        return self.sign == "-"


class RowOrigin(NamedTuple):
    """The version of a row that a release has, and what became of it."""

    version: RowVersion
    #: The page of the release that made it.
    url: str
    #: True if a later release deleted the row.
    is_deleted: bool
    #: The differences to the present version, for a page; none if it is the same.
    changes: Sequence[object]


class RowThenAndNow(Protocol):
    """A row in a release beside the present one, for a page."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> RowOrigin | None: ...


class ConfigurationFinding(NamedTuple):
    """Something in the stored configuration that was changed or removed."""

    code: str
    table: str
    row: str
    message: str


class ConfigurationReport(NamedTuple):
    """What of the stored configuration was verified, and the findings."""

    releases: int
    blobs: int
    history_rows: int
    findings: Sequence[ConfigurationFinding]


class ProvenRow(NamedTuple):
    """A row as a release has it, from a document of evidence."""

    table: str
    pk: str
    #: Label and text of each column.
    columns: Sequence[tuple[str, str]]
    #: The release that made this version, and its reason; None when the document does not have it.
    origin: int | None
    reason: str


class ProvenRelease(NamedTuple):
    """A release from a document of evidence."""

    config_version: int
    author: str
    #: In ISO 8601.
    at: str
    reason: str
    content_hash: str
    seal: str
    #: With the rows of the document only.
    snapshot: Snapshot
    rows: Sequence[ProvenRow]


class ProvenReleases(NamedTuple):
    """A document of evidence about releases, and what is wrong with it."""

    releases: Mapping[int, ProvenRelease]
    findings: Sequence[ConfigurationFinding]


class ReleaseHistory(Protocol):
    """Reads what releases contain and what they changed."""

    def diff(self, before: int, after: int, /) -> Mapping[str, Sequence[RowChange]]:
        """The rows in which two releases differ, by table; 0 is the empty configuration."""

    def right_to_read(self, table: str, /) -> str:
        """The right to read a row of a table. Raises KeyError for a table that is not configuration."""

    def then_and_now(self, table: str, pk: str, config_version: int, /) -> RowThenAndNow | None:
        """A row in a release beside the newest one. Returns None when neither has it."""

    def find_row_origins(
        self, rows: Collection[tuple[str, str]], config_version: int, /
    ) -> Mapping[tuple[str, str], RowOrigin]:
        """The origin of rows (table, key) as a release has them; rows without a history are left out."""

    def older_codes(self, intent: str, /) -> Sequence[str]:
        """The codes that an intent had before it was renamed, the latest first."""

    def list_release_notes(self, numbers: Collection[int], /) -> Sequence[ReleaseNote]:
        """What pages say about some releases, in their order; those that do not exist are left out."""

    def list_releases_of_period(self, since: datetime, until: datetime, limit: int, /) -> Sequence[ReleaseNote]:
        """The newest releases that people made in a period, in their order; without their gradual periods."""

    def between(
        self, since: int, until: int, behind: int | None = None, /
    ) -> tuple[Sequence[ReleaseChanges], int | None]:
        """The releases after `since` up to `until`, newest first; and where the next page begins."""

    def collect_evidence(
        self, rows: Mapping[int, Collection[tuple[str, str]]], tables: Mapping[int, Collection[str]], /
    ) -> dict[str, Any]:
        """A JSON document that proves rows (table, key) and whole tables of releases, and who made the rows."""

    def open_evidence(self, document: Any, /) -> ProvenReleases:
        """What such a document says, checked by its hashes alone: the database is not read."""

    def verify(self, versions: Collection[int] | None = None, /) -> ConfigurationReport:
        """Verify blobs, the chain of releases, and the row history; with `versions` only these releases."""

    def read_chain_end(self) -> tuple[int, str]:
        """The number and the seal of the newest release."""

    def read_seal(self, config_version: int, /) -> str:
        """The seal of a release; blank when it does not exist."""


release_history: Callable[[], ReleaseHistory] = partial(conf.load, "RELEASE_HISTORY")
