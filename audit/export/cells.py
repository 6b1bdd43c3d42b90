"""Cells of tables for spreadsheets."""

from typing import Any

#: A spreadsheet would read a cell that begins like this as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def guard_cell(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula. Numbers stay."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
