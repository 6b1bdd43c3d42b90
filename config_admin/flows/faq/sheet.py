"""The cells of a spreadsheet with questions and answers: pasted, as CSV, or as a workbook."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from config_admin.transfer.document import FileRefused
from config_admin.transfer.workbooks import read_sheets, write_sheets
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.table_text import Line, decode, read_table

#: Limits of a spreadsheet: bytes of a file, characters of a pasted text, and lines.
MAX_BYTES, MAX_CHARS, MAX_LINES = 2 * 1024 * 1024, 1_000_000, 500
_WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_TAB = "\t"
_DELIMITERS = (";", ",")
_TEMPLATE = (
    ("Questions", "Answer", "Intent name", "Language"),
    ("What are your opening hours?|When are you open?", "We are open from 9 to 5, Monday to Friday.", "", "en"),
    ("Where can I park?\nIs there a car park?", "You can park behind the house, free of charge.", "Parking", "en"),
)


def read_file(name: str, data: bytes) -> list[Line]:
    """The lines of a file: CSV, text with tabs, or the first sheet of a workbook that is not empty.

    Raises FileRefused.
    """
    if len(data) > MAX_BYTES:
        raise FileRefused(name, f"is larger than {MAX_BYTES // 1024 // 1024} MB. Split it into several files.")
    try:
        if Path(name).suffix.lower() not in _WORKBOOKS:
            return read_text(decode(data))
        sheets = read_apart(data, read_sheets, name, data, MAX_LINES + 2)
    except Unreadable as error:
        raise FileRefused(name, error.problem) from None
    return _check_lines(next((lines for _, lines in sheets if lines), []))


def read_text(text: str) -> list[Line]:
    """The lines of a pasted text: cells between tabs as spreadsheets copy them, or CSV. Raises FileRefused."""
    if len(text) > MAX_CHARS:
        raise FileRefused("The text", f"has more than {MAX_CHARS:,} characters. Split it into several parts.")
    if not text.strip():
        raise FileRefused("The text", "is empty. Paste the cells of a spreadsheet, or choose a file.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    delimiters = (_TAB,) if _TAB in text else _DELIMITERS
    try:
        lines = [cells for _, cells in read_table(text, delimiters)]
    except Unreadable:
        if delimiters != (_TAB,):
            raise FileRefused(
                "The text", "has a quote that is never closed. Remove it, or upload the spreadsheet as .xlsx."
            ) from None
        # A cell that only begins with a quote: spreadsheets quote cells with a tab or a line break.
        lines = [line.split(_TAB) for line in text.split("\n")]
    return _check_lines([(n, cells) for n, cells in enumerate(lines, 1) if any(cell.strip() for cell in cells)])


def _check_lines(lines: list[Line]) -> list[Line]:
    """The lines as they are. Raises FileRefused if there are none or too many."""
    if not lines:
        raise FileRefused("The file", "has no lines. Put questions into the first column and answers into the second.")
    # One line may be the heads of the columns.
    if len(lines) > MAX_LINES + 1:
        raise FileRefused(f"Line {lines[MAX_LINES + 1][0]}", f"is beyond the first {MAX_LINES}. Split the spreadsheet.")
    return lines


def write_text(lines: Sequence[Line]) -> str:
    """The lines as a spreadsheet copies them; each keeps its number."""
    cells = dict(lines)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=_TAB, lineterminator="\n")
    writer.writerows(cells.get(number, ()) for number in range(1, max(cells, default=0) + 1))
    return text.getvalue()


def write_template(name: str) -> bytes:
    """An example to fill in, by the ending of its name: .xlsx or .csv."""
    if name.endswith(".xlsx"):
        return write_sheets({"FAQ": _TEMPLATE})
    text = io.StringIO()
    csv.writer(text).writerows(_TEMPLATE)
    return text.getvalue().encode("utf-8-sig")
