"""The sheet of a table: how its rows become lines of cells, and back. CSV and workbooks are encodings of it.

The first row names the columns. An empty cell is null, or the empty text if a column must have one; JSON is JSON text.
A text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in front, and
so does an empty text that is not null; reading removes one.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.db import models
from django.template.defaultfilters import pluralize

from config_admin.transfer.document import (
    BaseRelease,
    Document,
    FileRefused,
    FileRow,
    ImportMode,
    locate_row,
    read_all,
)
from config_admin.transfer.natural_keys import (
    Contents,
    list_file_columns,
    list_file_rows,
    suggest_column,
    suggest_table,
)
from config_admin.transfer.values import ValueRefused, parse_text
from config_admin.validation.secret_columns import mask_row
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.files import Unreadable
from convengine.files.table_text import Line, read_table
from convengine.json_value import Json

#: The value of a cell; None when it is empty.
Cell = str | int | float | bool | None
#: What a spreadsheet takes for the start of a formula; and our own mark.
_RISKY = ("=", "+", "-", "@", "\t", "\r", "'")
#: The last cell of the first row: the number of the base release, and the hash of its content.
_BASE = re.compile(r"\s*base (\d{1,18}) ([0-9a-f]{64})\s*")
_DELIMITERS = (",", ";", "\t")


def list_cells(contents: Contents, table: str, base: BaseRelease | None = None) -> Iterator[list[Cell]]:
    """The names of the columns and the base, then the rows in the order of bundles."""
    columns = list_file_columns(table)
    yield [*columns, *([f"base {base.release} {base.content}"] if base else [])]
    for row in list_file_rows(contents, table):
        masked = mask_row(table, row)
        yield [_write_cell(column, masked[name]) for name, column in columns.items()]


def read_tables(name: str, sheets: Sequence[tuple[str, Sequence[Line]]]) -> Document:
    """The rows of all filled sheets, each named after a table; a single sheet may have the file's name instead.

    Raises FileRefused, also for a sheet of another name.
    """
    filled: dict[str, Sequence[Line]] = {}
    for sheet_title, lines in sheets:
        title = sheet_title.strip().lower()
        table = Path(name).stem.lower() if len(sheets) == 1 and title not in ROW_TYPE_OF else title
        if lines and table in filled:
            raise FileRefused(table, "occurs twice. Rename one of the sheets.")
        filled |= {table: lines} if lines else {}
    if not filled:
        raise FileRefused(name, "has only empty sheets.")
    tables = dict(read_all(filled.items(), _read_table))
    bases = {base for _, base in tables.values() if base}
    if len(bases) > 1:
        raise FileRefused(name, "has sheets of different exports. Import them one after the other.")
    rows = {table: rows for table, (rows, _) in tables.items()}
    return Document(rows, ImportMode.UPDATE, base=next(iter(bases), None))


def write_csv(contents: Contents, table: str, base: BaseRelease | None = None) -> bytes:
    text = io.StringIO()
    for cells in list_cells(contents, table, base):
        words = [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
        csv.writer(text, lineterminator="\r\n").writerow(words)
    return text.getvalue().encode()


def read_csv(name: str, text: str) -> Document:
    """The rows of a file that has the name of its table. Raises FileRefused."""
    # Some spreadsheets write a first line about the delimiter.
    text = re.sub(r"\A\s*sep=[,;\t](?=[\r\n])", "", text)
    try:
        lines = read_table(text, _DELIMITERS)
    except Unreadable as error:
        raise FileRefused(f"Line {error.line}", error.problem) from None
    return read_tables(name, [(Path(name).stem, lines or [(1, [])])])


def _read_table(sheet: tuple[str, Sequence[Line]]) -> tuple[str, tuple[list[FileRow], BaseRelease | None]]:
    """The rows below the names of the columns, each with its line, and the base. Raises FileRefused."""
    table, lines = sheet
    if table not in ROW_TYPE_OF:
        hint = suggest_table(table)
        raise FileRefused(
            table,
            f"is not a table. Name the file or sheet after a table, for example ce_rule.{hint} "
            "For questions and answers, use Intents → FAQ.",
        )
    (_, heads), *ahead = [(number, cells) for number, cells in lines if any(cells)] or [(1, ())]
    base = next((match for head in heads if (match := _BASE.fullmatch(head))), None)
    names = ["" if _BASE.fullmatch(head) else head for head in heads]
    while names and not names[-1]:
        names.pop()
    _check_names(table, names)
    rows = read_all(ahead, partial(_read_row, table, names))
    return table, (rows, BaseRelease(int(base[1]), base[2]) if base else None)


def _check_names(table: str, names: Sequence[str]) -> None:
    """Raise FileRefused for missing, unknown or duplicate names of columns."""
    columns = list_file_columns(table)
    if not names:
        raise FileRefused(table, "is empty. The first row must contain the column names.")
    for name in names:
        if name not in columns:
            raise FileRefused(table, f"has no column {name!r}.{suggest_column(table, name, columns)}")
    if len(set(names)) != len(names):
        raise FileRefused(table, "has a duplicate column.")


def _read_row(table: str, names: Sequence[str], line: Line) -> FileRow:
    """A row of a sheet. Raises FileRefused.

    An empty cell is null, or a blank text; it is left out if its column takes neither.
    """
    number, cells = line
    where, columns = locate_row(table, number, "line"), list_file_columns(table)
    if any(cells[len(names) :]):
        raise FileRefused(where, f"has {len(cells)} cells below {len(names)} column{pluralize(len(names))}.")

    values = read_all(zip(names, cells, strict=False), partial(_read_cell, where, columns))
    return FileRow({name: value for name, value in values if value is not None or columns[name].null}, where)


def _write_cell(column: "models.Field[Any, Any]", value: Json) -> Cell:
    """Numbers and booleans as such, so that spreadsheets can sort and filter them."""
    if value is not None and isinstance(column, models.JSONField):
        value = json.dumps(value, sort_keys=True, ensure_ascii=False)
    is_marked = isinstance(value, str) and (value.startswith(_RISKY) or (not value and column.null))
    cell: Cell = f"'{value}" if is_marked else value
    return cell


def _read_cell(where: str, columns: Mapping[str, Any], pair: tuple[str, str]) -> tuple[str, Json]:
    (name, cell), column = pair, columns[pair[0]]
    if not cell:
        return name, "" if isinstance(column, (models.CharField, models.TextField)) and not column.null else None
    try:
        return name, parse_text(column, cell.removeprefix("'"))
    except ValueRefused as error:
        raise FileRefused(f"{where}, {name}", str(error)) from None
