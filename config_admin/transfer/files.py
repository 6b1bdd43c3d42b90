"""Read files as documents and write them, by the format of their name."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from config_admin.releases.change_set import get_released_head
from config_admin.releases.content import control_plane
from config_admin.transfer import bundle, seed_sql, sheets, workbooks
from config_admin.transfer.document import Document, FileRefused, FileRow, Mode, Note
from config_admin.transfer.import_plan import load_contents
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY

FORMATS = (YAML, JSON, CSV, XLSX) = ("yaml", "json", "csv", "xlsx")
SQL = ".sql"
CONTENT_TYPES = {
    YAML: "application/yaml",
    JSON: "application/json",
    CSV: "text/csv; charset=utf-8",
    XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
#: Other spreadsheet formats: the reader of workbooks has a message about them.
_WORKBOOKS = (f".{XLSX}", ".xlsm", ".xls")


def get_format(path: Path | None) -> str:
    """The format of a file name; default is YAML."""
    suffix = path.suffix.lower().lstrip(".") if path else ""
    return suffix if suffix in FORMATS else YAML


def read_bytes(name: str, data: bytes, *, mode: str | None = None, blank_as_any: bool = False) -> Document:
    """The rows of a file, whose name selects the reader.

    `mode`: a `Mode`; null is that of the format. `blank_as_any`: a blank scope means ANY, where rows may have that.
    Raises FileRefused.
    """
    document = _read_document(name, data)
    if blank_as_any:
        document = replace_blank_scopes(document)
    return replace(document, mode=Mode(mode)) if mode else document


def _read_document(name: str, data: bytes) -> Document:
    suffix = Path(name).suffix.lower()
    if suffix in _WORKBOOKS:
        return workbooks.read_workbook(name, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(name, f"is not UTF-8 text (byte {error.start}). Save it again in that encoding.") from None
    if suffix == SQL:
        return seed_sql.read_seed_sql(text)
    return sheets.read_csv(name, text) if suffix == f".{CSV}" else bundle.read_bundle(text)


def read_file(path: Path, *, mode: str | None = None, blank_as_any: bool = False) -> Document:
    """The rows of a file, as `read_bytes`. Raises FileRefused, also when it cannot be opened."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileRefused(str(path), f"cannot be read: {error.strerror}.") from None
    return read_bytes(path.name, data, mode=mode, blank_as_any=blank_as_any)


def export_configuration(config_version: int | None = None, *, tables: Collection[str] = (), form: str = YAML) -> bytes:
    """A release as a bundle, as a workbook, or one table of it as CSV; null is the configuration in force.

    `tables`: only these. Raises NoSuchRelease, and ValueError for CSV of other than one table, and for a text that no
    workbook can hold.
    """
    if form == CSV and len(tables) != 1:
        raise ValueError("A CSV file contains one table. Choose one table.")
    contents = load_contents(get_released_head().config_version if config_version is None else config_version)
    if form == CSV:
        return sheets.write_csv(contents, *tables)
    if form == XLSX:
        return workbooks.write_workbook(contents, tables or contents)
    return bundle.write_bundle(contents, tables or contents, as_yaml=form == YAML).encode()


_SCOPE = ("intent_code", "state_code")


def replace_blank_scopes(document: Document) -> Document:
    """The document with ANY for blank or null scopes, and a note with the number of rows."""
    tables = {table: [_replace_blanks(table, row) for row in given] for table, given in document.tables.items()}
    count = sum(
        new is not old
        for table, given in document.tables.items()
        for new, old in zip(tables[table], given, strict=True)
    )
    note = Note("Scopes", f"{count} rows with an empty intent or state are read as ANY.")
    return replace(document, tables=tables, notes=[*document.notes, note] if count else document.notes)


def _replace_blanks(table: str, row: FileRow) -> FileRow:
    blank = {name: ANY for name in _list_scope_columns(table) if name in row.values and _is_blank(row.values, name)}
    return FileRow({**row.values, **blank}, row.where) if blank else row


def _list_scope_columns(table: str) -> tuple[str, ...]:
    """The scope columns of a table that may be ANY. For phrases they are results, not a scope."""
    model: Any = control_plane()[table]
    if not model.is_scoped:
        return ()
    return ("state_code",) if table == rows.OutputSchema.table else _SCOPE


def _is_blank(values: Mapping[str, Any], name: str) -> bool:
    return values[name] is None or (isinstance(values[name], str) and not values[name].strip())
