"""The checks as a whole: a good shop is left in peace, deletions and edits are watched, and a check stays quick."""

from dataclasses import replace
from time import perf_counter

import pytest

from config_admin.validation.run import check_delete, check_row, stale_edit
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.snapshot import Snapshot, Table
from tests.config_admin.validation import shop
from tests.config_admin.validation.shop import WORLD


@pytest.mark.parametrize("row", shop.ROWS, ids=lambda row: f"{row.table}-{row.pk}")
def test_nothing_is_said_about_a_good_row(row: rows.Row) -> None:
    assert shop.said(row) == []
