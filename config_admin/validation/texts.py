"""The texts of rows by column, for searching, and for finding uses."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot


class RowTexts(NamedTuple):
    """A row with its texts."""

    row: Row
    #: By column, without empty ones.
    texts: dict[str, str]
    #: All of it in lower case, for a quick test.
    folded: str


def list_row_texts(snapshot: Snapshot, row_type: type[Row]) -> Sequence[RowTexts]:
    """All rows of a type, including disabled ones, with their texts; made once per table."""
    return snapshot.table(row_type).memo.get("said", lambda: [_read_row_texts(row) for row in snapshot.rows(row_type)])


def _read_row_texts(row: Row) -> RowTexts:
    found = {name: text for name in rows.columns(type(row)) if (text := _format_value(getattr(row, name)))}
    found.setdefault(row.key, str(row.pk))
    return RowTexts(row, found, "\n".join(found.values()).lower())


def _format_value(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
