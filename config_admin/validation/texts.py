"""What rows say, column by column, as texts: for searching, and for finding who names what."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot


class Said(NamedTuple):
    """A row with what it says."""

    row: Row
    #: By column; columns that say nothing are left out.
    texts: dict[str, str]
    #: All of it in lower case, to look into first.
    folded: str


def said(snapshot: Snapshot, row_type: type[Row]) -> Sequence[Said]:
    """All rows of a type, switched off ones too, with what they say; made once a table."""
    return snapshot.table(row_type).memo.get("said", lambda: [_said(row) for row in snapshot.rows(row_type)])


def _said(row: Row) -> Said:
    found = {name: text for name in rows.columns(type(row)) if (text := _text(getattr(row, name)))}
    found.setdefault(row.key, str(row.pk))
    return Said(row, found, "\n".join(found.values()).lower())


def _text(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)
