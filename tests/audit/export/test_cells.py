"""Cells that no spreadsheet takes for a formula."""

from typing import Any

import pytest

from audit.export.cells import guard_cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [("=1+1", "'=1+1"), ("＝1", "'＝1"), ("-5", "'-5"), (-5, "-5"), (0.5, "0.5"), (None, ""), ("a=b", "a=b")],
)
def test_a_formula_becomes_a_text(value: Any, cell: str) -> None:
    assert guard_cell(value) == cell
