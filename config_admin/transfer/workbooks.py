"""Workbooks (.xlsx) with a sheet for each table, as `sheets` says what stands in the cells.

Files come from anywhere: what a workbook unpacks to is bounded, nothing in it is run, calculated or followed, and a
formula is refused by its cell.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Collection, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

from django.db import models

from config_admin.transfer.document import Document, FileRefused, FileRow, Mode, refuse
from config_admin.transfer.naming import Contents, file_columns
from config_admin.transfer.sheets import Cells, cells_of, rows_of
from convengine.domain.rows import ROW_TYPE_OF

#: What a cell can be; null when it is empty.
Value = str | int | float | bool | None
#: Bytes that a workbook may unpack to, parts that it may have, rows and columns of a sheet.
UNPACKED, PARTS, ROWS, COLUMNS = 64 * 1024 * 1024, 1000, 1_048_576, 200
#: Characters of a cell, in 16 bits each, as spreadsheets have it; and the largest number whose digits they all keep.
LONGEST, PRECISE = 32_767, 10**15
#: What XML, or the spelling of special characters in workbooks, does not bring back.
_LOST = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_|x005F_")
_DOCTYPES = tuple("<!DOCTYPE".encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be"))


def workbook_of(contents: Contents, tables: Collection[str]) -> bytes:
    """A workbook of some tables. Raises ValueError, naming the cell, for a text that no workbook brings back."""
    # A workbook that was begun has to be written to its end.
    lines = {table: list(_cells(contents, table)) for table in contents if table in tables}
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for table, rows in lines.items():
        sheet = book.create_sheet(table)
        sheet.freeze_panes = "A2"
        for row in rows:
            sheet.append([_text_cell(sheet, value) if isinstance(value, str) else value for value in row])
    found = io.BytesIO()
    book.save(found)
    return found.getvalue()


def _cells(contents: Contents, table: str) -> Iterator[list[Value]]:
    columns = list(file_columns(table).items())
    for number, cells in enumerate(cells_of(contents, table), 1):
        for (name, _), text in zip(columns, cells, strict=True):
            _check(f"{table} line {number}, {name}", text)
        yield [text if number == 1 else _typed(column, text) for (_, column), text in zip(columns, cells, strict=True)]


def _text_cell(sheet: Any, text: str) -> Any:
    """A cell with a text, whatever that looks like."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    return cell


def _typed(column: "models.Field[Any, Any]", text: str) -> Value:
    """What spreadsheets can sort and filter: numbers and truth values as such."""
    if not text:
        return None
    if isinstance(column, models.BooleanField):
        return text == "true"
    if isinstance(column, models.IntegerField):
        number = int(text)
        return number if abs(number) < PRECISE else text
    return float(text) if isinstance(column, models.DecimalField) else text


def _check(where: str, text: str) -> None:
    if len(text.encode("utf-16-le")) > 2 * LONGEST:
        raise ValueError(f"{where}: a cell of a workbook takes {LONGEST} characters. Take this table as CSV, or YAML.")
    if found := _LOST.search(text):
        raise ValueError(f"{where}: no workbook brings back {found[0]!r}. Take this table as CSV, or YAML.")


def read_workbook(name: str, data: bytes) -> Document:
    """The rows of all sheets that are called like tables; one sheet alone may have the file's name instead.

    Raises FileRefused.
    """
    _look_into(name, data)
    from openpyxl import load_workbook

    tables: dict[str, list[FileRow]] = {}
    wrong = []
    try:
        with warnings.catch_warnings(action="ignore"):
            book = load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
            sheets = book.worksheets
            for sheet in sheets:
                lines = list(_lines(sheet))
                if lines:
                    title = sheet.title.strip().lower()
                    table = Path(name).stem.lower() if len(sheets) == 1 and title not in ROW_TYPE_OF else title
                    if table in tables:
                        raise FileRefused(table, "is there twice; two sheets are called so.")
                    tables[table] = []
                    try:
                        tables[table] = rows_of(table, lines)
                    except FileRefused as refused:
                        wrong.append(refused)
            book.close()
            refuse(wrong)
    except FileRefused:
        raise
    except Exception as error:
        # What a reader of files of any making raises for a broken one is not to be known beforehand.
        raise FileRefused(name, f"is no workbook that can be read ({type(error).__name__}). Save it anew.") from error
    if not tables:
        raise FileRefused(name, "has no sheet with anything in it.")
    return Document(tables, Mode.UPDATE)


def _look_into(name: str, data: bytes) -> None:
    """Refuse what would be dangerous to open, before anything reads it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.infolist()
            if len(parts) > PARTS or sum(part.file_size for part in parts) > UNPACKED:
                raise FileRefused(name, f"unpacks to more than {UNPACKED} bytes, or {PARTS} parts. Split it by tables.")
            if any(part.flag_bits & 1 for part in parts):
                raise FileRefused(name, "is protected by a password. Save it without.")
            if any("vbaproject" in part.filename.lower() for part in parts):
                raise FileRefused(name, "has macros. Save it as a workbook without them (.xlsx).")
            for part in parts:
                # A part is never longer than it says: reading it ends there.
                if any(mark in packed.read(part) for mark in _DOCTYPES):
                    raise FileRefused(name, f"{part.filename} declares a document type, which no workbook needs.")
    except FileRefused:
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, OSError, ValueError) as error:
        raise FileRefused(name, "is no workbook (.xlsx). Save an older or protected one anew, as .xlsx.") from error


def _lines(sheet: Any) -> Iterator[tuple[int, Cells]]:
    """The lines of a sheet that have anything in them, with their numbers, at least as wide as the first.

    How large the sheet says it is, is not believed.
    """
    sheet.reset_dimensions()
    width = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        if number > ROWS or len(row) > COLUMNS:
            raise FileRefused(sheet.title, f"has more than {COLUMNS} columns or {ROWS} rows.")
        cells = [_text(sheet.title, number, place, cell) for place, cell in enumerate(row)]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            width = width or len(cells)
            yield number, [*cells, *[""] * (width - len(cells))]


def _text(sheet: str, number: int, place: int, cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type in ("f", "e") or not isinstance(value, (str, bool, int, float, datetime, date)):
        kinds = {"e": f"is an error ({value})", "f": "is a formula"}
        what = kinds.get(cell.data_type, "is a time of day or a span of time, which no column has")
        place_of = f"{sheet} line {number}, column {place + 1}"
        raise FileRefused(place_of, f"{what}. Copy the column, and paste it as values or text.")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < PRECISE else repr(value)
    text = str(value)
    if len(text) > LONGEST:
        raise FileRefused(f"{sheet} line {number}, column {place + 1}", f"has more than {LONGEST} characters.")
    return text
