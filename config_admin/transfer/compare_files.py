"""Compare two configurations, each a release or a file."""

from dataclasses import replace
from pathlib import Path

from config_admin.releases import diff
from config_admin.releases.tree import RowDifference
from config_admin.transfer.base_release import apply_rows
from config_admin.transfer.document import Document, FileRefused, ImportMode
from config_admin.transfer.files import read_file
from config_admin.transfer.import_plan import load_contents
from config_admin.transfer.natural_keys import Contents
from config_admin.transfer.row_matching import fresh_ids, match_rows
from config_admin.validation.stored_columns import control_plane

Side = int | Path


def compare_sides(before: Side, after: Side) -> dict[str, list[RowDifference]]:
    """The rows in which two sides differ, by table, of the tables that both have.

    Raises NoSuchRelease, and FileRefused, also for a row that cannot be matched.
    """
    if isinstance(before, int) and isinstance(after, int):
        return diff.differences(before, after)
    old, new = (load_contents(side) if isinstance(side, int) else read_file(side) for side in (before, after))
    named = [side.tables for side in (old, new) if isinstance(side, Document)]
    # A file is applied to rows, never rows to a file.
    old_rows = _get_rows(old, {table: {} for table in control_plane()} if isinstance(new, Document) else new)
    new_rows = _get_rows(new, old_rows)
    shared = [table for table in control_plane() if all(table in tables for tables in named)]
    return diff.compare_wanted(
        {table: {**dict.fromkeys(old_rows[table]), **new_rows[table]} for table in shared}, old_rows
    )


def _get_rows(side: Contents | Document, contents: Contents) -> Contents:
    """The rows of a side; of a file, those of the other side that becomes what the file says.

    Raises FileRefused for a row that cannot be matched.
    """
    if not isinstance(side, Document):
        return side
    placed = match_rows(replace(side, mode=ImportMode.REPLACE), contents, fresh_ids(side, contents))
    for where, finding in placed.refused:
        raise FileRefused(where, f"{finding.field}: {finding.message}")
    return apply_rows(contents, placed.wanted)
