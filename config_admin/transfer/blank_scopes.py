"""Blank scopes of older rows, which other systems read as any intent or state; here they are errors (tables 1.3)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config_admin.releases.content import control_plane
from config_admin.transfer.document import Document, FileRow, Note
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY

_SCOPE = ("intent_code", "state_code")


def any_for_blank(document: Document) -> Document:
    """The document with ANY for blank or null scopes, and a note with the number of rows."""
    found = {table: [_row(table, row) for row in given] for table, given in document.tables.items()}
    count = sum(
        new is not old for table, given in document.tables.items() for new, old in zip(found[table], given, strict=True)
    )
    note = Note("Scopes", f"{count} rows with an empty intent or state are read as ANY.")
    return replace(document, tables=found, notes=[*document.notes, note] if count else document.notes)


def _row(table: str, row: FileRow) -> FileRow:
    blank = {name: ANY for name in _columns(table) if name in row.values and _is_blank(row.values, name)}
    return FileRow({**row.values, **blank}, row.where) if blank else row


def _columns(table: str) -> tuple[str, ...]:
    """The scope columns of a table that may be ANY. For phrases they are results, not a scope."""
    model: Any = control_plane()[table]
    if not model.is_scoped:
        return ()
    return ("state_code",) if table == rows.OutputSchema.table else _SCOPE


def _is_blank(values: Mapping[str, Any], name: str) -> bool:
    return values[name] is None or (isinstance(values[name], str) and not values[name].strip())
