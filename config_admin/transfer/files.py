"""Read files as documents and write them, by the format of their name."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.template.defaultfilters import pluralize

from config_admin.releases.change_set import get_released_head
from config_admin.releases.queries import content_hash_of
from config_admin.transfer import bundle, sheets, workbooks
from config_admin.transfer.ancestry import list_ancestors
from config_admin.transfer.document import (
    MOST_ROWS,
    BaseRelease,
    Document,
    FileRefused,
    FileRow,
    ImportMode,
    Note,
    check_value_count,
)
from config_admin.transfer.import_plan import load_contents, load_current_contents
from config_admin.transfer.natural_keys import SCOPE
from config_admin.validation.columns import REGEX, LanguageByWord, list_column_specs
from config_admin.validation.settings import get_setting
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.json_value import Json
from convengine.server.deployment import conf

Values = Mapping[str, Any]
FORMATS = (YAML, JSON, CSV, XLSX) = ("yaml", "json", "csv", "xlsx")
CONTENT_TYPES = {
    YAML: "application/yaml",
    JSON: "application/json",
    CSV: "text/csv; charset=utf-8",
    XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_BLANK_AS_ANY = Note("Scopes", "{rows} with an empty intent or state {are} read as ANY.")
_UNDOUBLED = Note("Patterns", "Two backslashes are read as one in the patterns of {rows}.")
#: How a file is read, as `read_bytes` takes it.
READING_OPTIONS = ("mode", "blank_as_any", "undouble_backslashes", "merge", "overwrite")
#: A name without an ending may be that of a bundle, too.
_BUNDLES = (f".{YAML}", ".yml", f".{JSON}", "")
#: Other spreadsheet formats: the reader of workbooks has a message about them.
_WORKBOOKS = (f".{XLSX}", ".xlsm", ".xls")


def get_format(path: Path | None) -> str:
    """The format of a file name; default is YAML."""
    suffix = path.suffix.lower().lstrip(".") if path else ""
    return suffix if suffix in FORMATS else YAML


def read_bytes(
    name: str,
    data: bytes,
    *,
    mode: str | None = None,
    blank_as_any: bool = False,
    undouble_backslashes: bool = False,
    merge: bool = False,
    overwrite: bool = False,
) -> Document:
    """The rows of a file, whose name selects the reader.

    `mode`: a `Mode`; None is the mode of the format. `blank_as_any`: a blank scope means ANY, where rows may have that.
    `undouble_backslashes`: two backslashes in a regular expression mean one. `merge`: changes since the file's base are
    merged with its own; `overwrite`: they are taken back, even if nothing here says what they are. Raises FileRefused.
    """
    try:
        document = read_apart(data, _read_document, name, data)
    except Unreadable as error:
        raise FileRefused(name, error.problem) from None
    if document.count > MOST_ROWS:
        raise FileRefused(name, f"has {document.count} rows; at most {MOST_ROWS} can be imported. Split it by tables.")
    if blank_as_any:
        document = _change_rows(document, _replace_blank_scopes, _BLANK_AS_ANY)
    if undouble_backslashes:
        document = _change_rows(document, _undouble_backslashes, _UNDOUBLED)
    document = replace(document, merges=merge and not overwrite, overwrites=overwrite)
    return replace(document, mode=ImportMode(mode)) if mode else document


def _read_document(name: str, data: bytes) -> Document:
    """The rows of a file; its suffix selects the reader, and an unknown one means a bundle. Raises FileRefused."""
    suffix = Path(name).suffix.lower()
    if suffix in _WORKBOOKS:
        return workbooks.read_workbook(name, data)
    check_value_count(name, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(name, f"is not UTF-8 text (byte {error.start}). Save it again in that encoding.") from None
    if reader := conf.get("FILE_READERS").get(suffix):
        document: Document = conf.import_from_path(reader)(name, text)
        return document
    if suffix == f".{CSV}":
        return sheets.read_csv(name, text)
    try:
        return bundle.read_bundle(text)
    except FileRefused as error:
        if suffix in _BUNDLES:
            raise
        kinds = "A file to import ends in .yaml, .json, .csv, .xlsx or .sql."
        raise FileRefused(name, f"is not a configuration file. {kinds} Read as YAML: {error.problems[0]}") from None


def read_file(path: Path, **options: Any) -> Document:
    """The rows of a file, as `read_bytes`. Raises FileRefused, also when it cannot be opened."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileRefused(str(path), f"cannot be read: {error.strerror}.") from None
    return read_bytes(path.name, data, **options)


def export_configuration(
    config_version: int | None = None,
    *,
    tables: Collection[str] = (),
    keys: Collection[Any] | None = None,
    form: str = YAML,
    with_base: bool = True,
    sections: Mapping[str, Json] = MappingProxyType({}),
) -> bytes:
    """A release as a bundle, as a workbook, or one table of it as CSV; None is the present configuration.

    In a draft that is the configuration of the draft.

    `tables`: only these. `keys`: only these rows of one table. `with_base`: a bundle names the release. `sections`:
    what a bundle has beside its tables.

    Raises NoSuchRelease, and ValueError for CSV of other than one table, and for a text that no
    workbook can hold.
    """
    if form == CSV and len(tables) != 1:
        raise ValueError("A CSV file contains one table. Choose one table.")
    # A file from a draft is based on the release below it: so it takes along what the draft changes.
    version = get_released_head().config_version if config_version is None else config_version
    contents = load_current_contents() if config_version is None else load_contents(version)
    if keys is not None:
        [table] = tables
        contents = contents | {table: {pk: row for pk, row in contents[table].items() if pk in keys}}
    base = BaseRelease(version, content_hash_of(version)) if with_base else None
    if form == CSV:
        [table] = tables
        return sheets.write_csv(contents, table, base)
    if form == XLSX:
        return workbooks.write_workbook(contents, tables or contents, base)
    ancestors = list_ancestors(version) if with_base else ()
    wanted = tables or contents
    text = bundle.write_bundle(
        contents, wanted, as_yaml=form == YAML, base=base, ancestors=ancestors, sections=sections
    )
    return text.encode()


def _change_rows(document: Document, list_changes: Callable[[str, Values], Values], note: Note) -> Document:
    """The document with some values changed, and a note with the number of rows."""
    count, tables = 0, dict[str, list[FileRow]]()
    for table, given in document.tables.items():
        changes = [list_changes(table, row.values) for row in given]
        count += sum(map(bool, changes))
        pairs = zip(given, changes, strict=True)
        tables[table] = [replace(row, values={**row.values, **changed}) for row, changed in pairs]
    if not count:
        return document
    text = note.text.format(rows=f"{count} row{pluralize(count)}", are=pluralize(count, "is,are"))
    return replace(document, tables=tables, notes=[*document.notes, replace(note, text=text)])


def _replace_blank_scopes(table: str, values: Values) -> Values:
    """The blank scopes of a row that may be ANY, replaced by it. For phrases they are results, not a scope."""
    model: Any = control_plane()[table]
    columns = ("state_code",) if table == rows.OutputSchema.table else SCOPE
    return {name: ANY for name in columns if model.is_scoped and name in values and blank(values[name])}


def _undouble_backslashes(table: str, values: Values) -> Values:
    """One backslash for two in regular expressions."""
    return {
        name: value.replace("\\\\", "\\")
        for name, value in values.items()
        if isinstance(value, str) and "\\\\" in value and _is_pattern(table, name, values)
    }


def _is_pattern(table: str, name: str, values: Values) -> bool:
    """True when the value of a column is a regular expression."""
    if table == rows.Config.table:
        setting = get_setting(values.get("config_type"), values.get("config_key"))
        return name == "config_value" and setting is not None and setting.kind.name in ("regex", "patterns")
    language = list_column_specs(table)[name].language if name in list_column_specs(table) else ""
    if isinstance(language, LanguageByWord):
        language = language.languages.get(code(values.get(language.column)), "")
    return language == REGEX


def update_base(path: Path, base: BaseRelease) -> None:
    """Write another base into a bundle that has one. Everything else stays as it is."""
    text = bundle.replace_base(path.read_text(encoding="utf-8"), base, list_ancestors(base.release))
    path.write_text(text, encoding="utf-8", newline="")
