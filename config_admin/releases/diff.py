"""The rows in which two configurations differ, by table."""

from collections.abc import Mapping, Sequence
from typing import Any

from config_admin.releases import tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.content import contents
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import manifest_of
from config_admin.releases.tree import Content, RowDifference, has_same_text
from config_admin.validation.stored_columns import control_plane

#: The rows that differ, by table in import order and by key.
RowDifferences = Mapping[str, Sequence[RowDifference]]


def differences(before: int, after: int) -> dict[str, list[RowDifference]]:
    """The rows in which two releases differ. Reads only the changed chunks, all at once.

    Raises NoSuchRelease; 0 is the empty configuration.
    """
    return compare_manifests(Blobs(), manifest_of(before), manifest_of(after))


def changes_of(release: CeRelease) -> dict[str, list[RowDifference]]:
    return differences(release.parent_id or 0, release.pk)


def compare_manifests(blobs: Blobs, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[RowDifference]]:
    """The rows in which two configurations differ. `blobs` has those that are not stored."""
    roots = [(old.get(table), new.get(table)) for table in control_plane() if old.get(table) != new.get(table)]
    blobs.fetch(root for pair in roots for root in pair if root)
    blobs.fetch(chunk.hash for pair in roots for side in tree.apart(blobs, *pair) for chunk in side)
    by_table = {table: tree.differences(blobs, table, old.get(table), new.get(table)) for table in control_plane()}
    return {table: rows for table, rows in by_table.items() if rows}


def compare_wanted(
    wanted: Mapping[str, Mapping[Any, Content | None]], existing: Mapping[str, Mapping[Any, Content]] | None = None
) -> dict[str, list[RowDifference]]:
    """The rows that would change (None: would be deleted); `existing`: today's rows, which are read if it is None."""
    by_table = {}
    for table in control_plane():
        if rows := wanted.get(table):
            now = contents(table, list(rows)) if existing is None else existing[table]
            pairs = (RowDifference(pk, now.get(pk), rows[pk]) for pk in sorted(rows))
            by_table[table] = [row for row in pairs if not has_same_text(row.before, row.after)]
    return {table: rows for table, rows in by_table.items() if rows}


def rows_after(differences: RowDifferences) -> dict[str, dict[Any, Content | None]]:
    """The rows as they are on the second side, by table and key; a deleted one is None."""
    return {table: {row.pk: row.after for row in rows} for table, rows in differences.items()}
