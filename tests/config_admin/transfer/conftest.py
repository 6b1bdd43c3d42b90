"""A configuration with a row of every table, and files of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.transfer.document import Document, FileRow, ImportMode, locate_row
from config_admin.validation.stored_columns import control_plane
from tests.config_admin.builders import make


@pytest.fixture
def bank(db: None) -> None:
    """A row of every table, in one release."""
    with change_set(reason="a bank"):
        tool = make(m.CeMcpTool)
        for model in (m.CeIntent, m.CeRule, m.CePromptTemplate, m.CeResponse, m.CePolicy, m.CeStateGraph, m.CeVerbose):
            make(model)
        make(m.CeMcpDbTool, tool=tool)


def delete_all_rows() -> None:
    """Take every row away, in one release."""
    with change_set(reason="nothing"):
        for model in reversed(control_plane().values()):
            model._base_manager.all().delete()


def document(mode: ImportMode = ImportMode.UPDATE, **tables: Sequence[dict[str, Any]]) -> Document:
    """A file of these rows."""
    return Document(
        {
            table: [FileRow(row, locate_row(table, number)) for number, row in enumerate(rows, 1)]
            for table, rows in tables.items()
        },
        mode,
    )
