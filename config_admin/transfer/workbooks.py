"""Sheets as a workbook (.xlsx).

Files come from anywhere: their unpacked size is limited, nothing in them is run, calculated or followed, and formulas
are refused by cell.
"""

import io
import re
import shutil
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any

from config_admin.transfer.document import MOST_ROWS, MOST_VALUES, BaseRelease, Document, FileRefused, locate_row
from config_admin.transfer.natural_keys import Contents
from config_admin.transfer.sheets import Cell, list_cells, read_tables
from convengine.files.table_text import Line

#: Limits of a workbook: unpacked bytes, parts, columns of a sheet.
UNPACKED, PARTS, COLUMNS = 64 * 1024 * 1024, 1000, 200
#: Maximum XML elements of sheets and texts (a cell has about four), and of all other parts. Those are read whole.
_ELEMENTS, _OTHER_ELEMENTS = 4 * MOST_VALUES, 200_000
_STREAMED = re.compile(r"xl/(worksheets/(?!_rels/)|sharedStrings)")
#: What a streamed part may be.
_STREAMED_TYPES = ("worksheet+xml", "sharedStrings+xml")
_CHUNK = 256 * 1024
#: Limits of spreadsheets: characters of a cell in UTF-16 units, and the largest number that keeps all digits.
LONGEST, PRECISE = 32_767, 10**15
#: Characters that XML, or their escapes in workbooks, lose.
_LOST = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_|x005F_")
_DOCTYPES = tuple("<!DOCTYPE".encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be"))


def write_workbook(contents: Contents, tables: Collection[str], base: BaseRelease | None = None) -> bytes:
    """A workbook of some tables. Raises ValueError with the cell for a text that no workbook can hold."""
    # Computed first, because a started workbook must be written to its end.
    return write_sheets({table: list(_list_cells(contents, table, base)) for table in contents if table in tables})


def write_sheets(sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> bytes:
    """A workbook with the rows of each sheet; the first row of a sheet stays in sight."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        for row in rows:
            sheet.append([_text_cell(sheet, value) if isinstance(value, str) else value for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _list_cells(contents: Contents, table: str, base: BaseRelease | None) -> Iterator[list[Cell]]:
    """The rows of a sheet, first the names of the columns. Raises ValueError for what a workbook cannot store."""
    names, *lines = list_cells(contents, table, base)
    yield names
    for number, cells in enumerate(lines, 2):
        where = locate_row(table, number, "line")
        yield [_convert_cell(f"{where}, {name}", cell) for name, cell in zip(names, cells, strict=False)]


def _text_cell(sheet: Any, text: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    return cell


def _convert_cell(where: str, cell: Cell) -> Cell:
    """The cell as a workbook holds it. Raises ValueError for a text that it would change."""
    if not isinstance(cell, str):
        return str(cell) if isinstance(cell, int) and abs(cell) >= PRECISE else cell
    if len(cell.encode("utf-16-le")) > 2 * LONGEST:
        raise ValueError(
            f"{where}: a cell of a workbook holds at most {LONGEST} characters. Export this table as CSV or YAML."
        )
    if match := _LOST.search(cell):
        raise ValueError(f"{where}: a workbook cannot store {match[0]!r}. Export this table as CSV or YAML.")
    return cell or None


def read_workbook(name: str, data: bytes) -> Document:
    """The rows of its sheets. Raises FileRefused."""
    return read_tables(name, read_sheets(name, data))


def read_sheets(name: str, data: bytes, most: int | None = None) -> list[tuple[str, list[Line]]]:
    """The title of each sheet, and its lines with any content, with their numbers; of each at most `most`.

    Raises FileRefused.
    """
    _check_archive(name, data)
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings(action="ignore"):
            unpacked = _unpack(data)
            if _has_disguised_part(unpacked):
                raise FileRefused(name, "has parts under the names of others. Save it with a spreadsheet program.")
            book = load_workbook(unpacked, read_only=True, keep_links=False)
            budget = _Budget(name)
            sheets = [(sheet.title, list(islice(_read_lines(sheet, budget), most))) for sheet in book.worksheets]
            book.close()
    except FileRefused:
        raise
    except Exception as error:
        # A broken file may raise any exception.
        raise FileRefused(name, f"is not a readable workbook ({type(error).__name__}). Save it again.") from error
    return sheets


def _check_archive(name: str, data: bytes) -> None:
    """Refuse dangerous files before anything reads them. Raises FileRefused.

    Large archives, macros and document types are dangerous. Files with a password and files that are no archives are
    refused too.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.infolist()
            if len(parts) > PARTS or sum(part.file_size for part in parts) > UNPACKED:
                raise FileRefused(name, f"unpacks to more than {UNPACKED} bytes, or {PARTS} parts. Split it by tables.")
            if any(part.flag_bits & 1 for part in parts):
                raise FileRefused(name, "is protected by a password. Save it without a password.")
            if any("vbaproject" in part.filename.lower() for part in parts):
                raise FileRefused(name, "contains macros. Save it as a workbook without macros (.xlsx).")
            elements = {True: _ELEMENTS, False: _OTHER_ELEMENTS}
            for part in parts:
                streamed = bool(_STREAMED.match(part.filename))
                elements[streamed] -= _count_elements(name, packed, part, elements[streamed])
    except FileRefused:
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, OSError, ValueError) as error:
        raise FileRefused(
            name, "is not a workbook (.xlsx). Save older or protected workbooks as .xlsx without protection."
        ) from error


def _has_disguised_part(unpacked: io.BytesIO) -> bool:
    """True when a part that is read whole has the name of one that is streamed, which may be larger."""
    from openpyxl.packaging.manifest import Manifest
    from openpyxl.packaging.relationship import get_dependents
    from openpyxl.xml.constants import ARC_CONTENT_TYPES
    from openpyxl.xml.functions import fromstring

    with zipfile.ZipFile(unpacked) as archive:
        parts = Manifest.from_tree(fromstring(archive.read(ARC_CONTENT_TYPES))).Override
        streamed = [part for part in parts if _STREAMED.match(part.PartName.lstrip("/"))]
        if not all(part.ContentType.endswith(_STREAMED_TYPES) for part in streamed):
            return True
        links = (link for name in archive.namelist() if "_rels/" in name for link in get_dependents(archive, name))
        return any("chartsheet" in link.Type and _STREAMED.match(link.target) for link in links)


def _count_elements(name: str, packed: zipfile.ZipFile, part: zipfile.ZipInfo, most: int) -> int:
    """The number of tags of a part. Raises FileRefused for more than `most`, and for a document type."""
    count, before = 0, b""
    with packed.open(part) as stream:
        # A part is never longer than it declares: reading ends there.
        while chunk := stream.read(_CHUNK):
            joined = before + chunk
            if any(mark in joined for mark in _DOCTYPES):
                raise FileRefused(
                    name, f"{part.filename} declares a document type, which is not allowed in a workbook."
                )
            before = joined[-32:]
            count += chunk.count(b"<")
            if count > most:
                raise FileRefused(name, f"has more than {MOST_VALUES} cells, or very many formats. Split it by tables.")
    return count


def _unpack(data: bytes) -> io.BytesIO:
    """The archive without compression, so that no part is longer than it declares when it is read as a whole."""
    unpacked = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as packed, zipfile.ZipFile(unpacked, "w") as out:
        for part in packed.infolist():
            with packed.open(part) as source, out.open(part.filename, "w") as target:
                shutil.copyfileobj(source, target, _CHUNK)
    unpacked.seek(0)
    return unpacked


class _Budget:
    """The rows and cells that a workbook may still have, with empty ones: sheets may be read several times."""

    def __init__(self, name: str) -> None:
        self._name, self._rows, self._cells = name, MOST_ROWS, MOST_VALUES

    def spend(self, cells: int) -> None:
        """Raises FileRefused."""
        self._rows, self._cells = self._rows - 1, self._cells - cells
        if self._rows < 0 or self._cells < 0:
            raise FileRefused(self._name, f"has more than {MOST_ROWS} rows or {MOST_VALUES} cells. Split it by tables.")


def _read_lines(sheet: Any, budget: _Budget) -> Iterator[Line]:
    """The lines of a sheet with any content, with their numbers, at least as wide as the first.

    The size that the sheet declares is not trusted. Raises FileRefused.
    """
    sheet.reset_dimensions()
    width = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        if len(row) > COLUMNS:
            raise FileRefused(sheet.title, f"has more than {COLUMNS} columns.")
        budget.spend(len(row))
        cells = [_read_text(sheet.title, number, column, cell) for column, cell in enumerate(row)]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            width = width or len(cells)
            yield number, [*cells, *[""] * (width - len(cells))]


def _read_text(sheet: str, number: int, index: int, cell: Any) -> str:
    """The text of a cell, as a CSV file has it. Raises FileRefused for a formula, an error or a too long text."""
    value = cell.value
    if value is None:
        return ""
    position = f"{sheet} line {number}, column {index + 1}"
    if cell.data_type in ("f", "e") or not isinstance(value, (str, bool, int, float, datetime, date)):
        kinds = {"e": f"is an error ({value})", "f": "is a formula"}
        what = kinds.get(cell.data_type, "is a time of day or a duration, which no column accepts")
        raise FileRefused(position, f"{what}. Copy the column and paste it as values or text.")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < PRECISE else repr(value)
    text = str(value)
    if len(text) > LONGEST:
        raise FileRefused(position, f"has more than {LONGEST} characters.")
    return text
