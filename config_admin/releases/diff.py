"""Compare two releases, row by row and field by field (R5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config_admin.releases import tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.content import control_plane
from config_admin.releases.queries import manifest_of
from config_admin.releases.tree import Content, RowDifference

Json = Any


@dataclass(frozen=True)
class ChangedRow:
    """A row in both releases, with different content."""

    pk: Any
    before: Content
    after: Content

    @property
    def fields(self) -> dict[str, tuple[Json, Json]]:
        """Before and after of each changed column."""
        return {
            name: (self.before[name], value)
            for name, value in self.after.items()
            if not tree.has_same_text(self.before[name], value)
        }


@dataclass(frozen=True)
class TableDiff:
    """The differences of one table; rows are in key order."""

    added: list[Content]
    removed: list[Content]
    changed: list[ChangedRow]


def diff(before: int, after: int) -> dict[str, TableDiff]:
    """The tables in which two releases differ, in import order. Raises NoSuchRelease; 0 is the empty configuration."""
    return {table: table_diff(rows) for table, rows in differences(before, after).items()}


def differences(before: int, after: int) -> dict[str, list[RowDifference]]:
    """The rows in which two releases differ, by table. Reads only the changed chunks, all at once."""
    return compare_manifests(Blobs(), manifest_of(before), manifest_of(after))


def compare_manifests(blobs: Blobs, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[RowDifference]]:
    """The rows in which two configurations differ, by table. `blobs` has those that are not stored."""
    roots = [(old.get(table), new.get(table)) for table in control_plane() if old.get(table) != new.get(table)]
    blobs.fetch(root for pair in roots for root in pair if root)
    blobs.fetch(chunk.hash for pair in roots for side in tree.apart(blobs, *pair) for chunk in side)
    by_table = {table: tree.differences(blobs, table, old.get(table), new.get(table)) for table in control_plane()}
    return {table: rows for table, rows in by_table.items() if rows}


def table_diff(rows: list[RowDifference]) -> TableDiff:
    """The changed rows of a table, by kind of change."""
    return TableDiff(
        added=[row.after for row in rows if row.before is None and row.after is not None],
        removed=[row.before for row in rows if row.after is None and row.before is not None],
        changed=[
            ChangedRow(row.pk, row.before, row.after)
            for row in rows
            if row.before is not None and row.after is not None
        ],
    )
