"""Tables for spreadsheets, with commas."""

import csv
import io
from collections.abc import Iterable
from typing import Any

#: A spreadsheet would read a cell that begins like this as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def guard_cell(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula. Numbers stay, and None is blank."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def format_rows(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as lines of CSV, with guarded cells."""
    lines = io.StringIO()
    csv.writer(lines).writerows([guard_cell(cell) for cell in row] for row in rows)
    return lines.getvalue()
