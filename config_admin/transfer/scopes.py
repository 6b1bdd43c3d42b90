"""Blank scopes of older rows: to some systems they meant any intent or state, here they are an error (tables 1.3)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config_admin.models import ScopedRow
from config_admin.releases.content import control_plane
from config_admin.transfer.document import Document, FileRow, Note
from convengine.domain import rows
from convengine.domain.scope import ANY

_SCOPE = ("intent_code", "state_code")


def any_for_blank(document: Document) -> Document:
    """The document with ANY where a row's scope is blank or null, and a note that says of how many rows."""
    found = {table: [_row(table, row) for row in given] for table, given in document.tables.items()}
    count = sum(
        new is not old for table, given in document.tables.items() for new, old in zip(found[table], given, strict=True)
    )
    note = Note("Scopes", f"{count} rows with a blank intent or state have ANY there.")
    return replace(document, tables=found, notes=[*document.notes, note] if count else document.notes)


def _row(table: str, row: FileRow) -> FileRow:
    blank = {name: ANY for name in _columns(table) if name in row.values and _is_blank(row.values, name)}
    return FileRow({**row.values, **blank}, row.where) if blank else row


def _columns(table: str) -> tuple[str, ...]:
    """The columns of a table's scope in which ANY may stand. Of classifiers they are results, no scope."""
    if not issubclass(control_plane()[table], ScopedRow):
        return ()
    return ("state_code",) if table == rows.OutputSchema.table else _SCOPE


def _is_blank(values: Mapping[str, Any], name: str) -> bool:
    return values[name] is None or (isinstance(values[name], str) and not values[name].strip())
