"""Read files as documents and write them, by the format of their name."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from config_admin.releases.change_set import get_released_head
from config_admin.transfer import bundle, seed_sql, sheets, workbooks
from config_admin.transfer.blank_scopes import any_for_blank
from config_admin.transfer.document import Document, FileRefused, Mode
from config_admin.transfer.import_plan import contents_of

FORMS = (YAML, JSON, CSV, XLSX) = ("yaml", "json", "csv", "xlsx")
SQL = ".sql"
CONTENT_TYPES = {
    YAML: "application/yaml",
    JSON: "application/json",
    CSV: "text/csv; charset=utf-8",
    XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
#: Other spreadsheet formats: the reader of workbooks has a message about them.
_WORKBOOKS = (f".{XLSX}", ".xlsm", ".xls")


def form_of(path: Path | None) -> str:
    """The format of a file name; default is YAML."""
    suffix = path.suffix.lower().lstrip(".") if path else ""
    return suffix if suffix in FORMS else YAML


def read_bytes(name: str, data: bytes, *, mode: str | None = None, blank_as_any: bool = False) -> Document:
    """The rows of a file, whose name selects the reader.

    `mode`: a `Mode`; null is that of the format. `blank_as_any`: a blank scope means ANY, where rows may have that.
    Raises FileRefused.
    """
    found = _read(name, data)
    if blank_as_any:
        found = any_for_blank(found)
    return replace(found, mode=Mode(mode)) if mode else found


def _read(name: str, data: bytes) -> Document:
    suffix = Path(name).suffix.lower()
    if suffix in _WORKBOOKS:
        return workbooks.read_workbook(name, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(name, f"is not UTF-8 text (byte {error.start}). Save it again in that encoding.") from None
    if suffix == SQL:
        return seed_sql.read(text)
    return sheets.read_csv(name, text) if suffix == f".{CSV}" else bundle.read(text)


def read_file(path: Path, *, mode: str | None = None, blank_as_any: bool = False) -> Document:
    """The rows of a file, as `read_bytes`. Raises FileRefused, also when it cannot be opened."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileRefused(str(path), f"cannot be read: {error.strerror}.") from None
    return read_bytes(path.name, data, mode=mode, blank_as_any=blank_as_any)


def bundle_of(config_version: int | None = None, *, tables: Collection[str] = (), form: str = YAML) -> bytes:
    """A release as a bundle, as a workbook, or one table of it as CSV; null is the configuration in force.

    `tables`: only these. Raises NoSuchRelease, and ValueError for CSV of other than one table, and for a text that no
    workbook can hold.
    """
    if form == CSV and len(tables) != 1:
        raise ValueError("A CSV file contains one table. Choose one table.")
    contents = contents_of(get_released_head().config_version if config_version is None else config_version)
    if form == CSV:
        return sheets.csv_of(contents, *tables)
    if form == XLSX:
        return workbooks.workbook_of(contents, tables or contents)
    return bundle.write_bundle(contents, tables or contents, as_yaml=form == YAML).encode()
