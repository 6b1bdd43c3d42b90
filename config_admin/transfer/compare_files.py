"""Compare two configurations, each a release or a file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from config_admin.releases import diff
from config_admin.releases.content import control_plane
from config_admin.releases.tree import Content, RowDifference
from config_admin.transfer.document import Document, FileRefused, Mode
from config_admin.transfer.files import read_file
from config_admin.transfer.import_plan import load_contents
from config_admin.transfer.row_matching import fresh_ids, match_rows

Side = int | Path
_Contents = dict[str, dict[Any, Content]]


def compare_sides(before: Side, after: Side) -> dict[str, list[RowDifference]]:
    """The rows in which two sides differ, by table, of the tables that both have.

    Raises NoSuchRelease, and FileRefused, also for a row that cannot be matched.
    """
    if isinstance(before, int) and isinstance(after, int):
        return diff.differences(before, after)
    sides = [(side if isinstance(side, int) else read_file(side)) for side in (before, after)]
    old, new = sides
    if isinstance(new, int):
        # A file is applied to rows, never rows to a file.
        assert isinstance(old, Document)
        turned = _compare_with_document(load_contents(new), old)
        return {table: [RowDifference(row.pk, row.after, row.before) for row in rows] for table, rows in turned.items()}
    base = load_contents(old) if isinstance(old, int) else _match_against_nothing(old)
    tables = None if isinstance(old, int) else old.tables.keys()
    selected = {table: rows for table, rows in new.tables.items() if tables is None or table in tables}
    return _compare_with_document(base, replace(new, tables=selected))


def _match_against_nothing(document: Document) -> _Contents:
    empty: _Contents = {table: {} for table in control_plane()}
    for table, rows in _compare_with_document(empty, document).items():
        empty[table] = {row.pk: row.after for row in rows if row.after is not None}
    return empty


def _compare_with_document(contents: _Contents, document: Document) -> dict[str, list[RowDifference]]:
    placed = match_rows(replace(document, mode=Mode.REPLACE), contents, fresh_ids(document, contents))
    for where, finding in placed.refused:
        raise FileRefused(where, f"{finding.field}: {finding.message}")
    return diff.compare_wanted(placed.wanted, contents)
