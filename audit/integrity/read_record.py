"""Read the rows of the record for their seals: turn after turn, in few statements.

Some hundred turns fit into memory; a conversation need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db import InternalError, connection

from audit.record.turn_index import IndexEntry
from audit.seal import JSON_COLUMNS, SEALED
from convengine.server.database.sql import dialect
from convengine.server.database.unreadable import UNREADABLE, is_damaged, protect_transaction, read_any_text
from convengine.server.sessions.models import ADDITION

#: Turns per read.
TURNS = 400
LAST = 2**31 - 1
#: A position in the order of all turns: conversation and turn.
TurnKey = tuple[uuid.UUID, int]
#: A row of the record, by column.
Row = dict[str, Any]
_COLUMNS = (*SEALED, "history_id", "seal")
_SEPARATORS = "\x01", "\x02"


@dataclass
class TurnChunk:
    """Turns in order, and the index entries of each."""

    rows: list[Row]
    index: dict[uuid.UUID, list[IndexEntry]]


def read_chunks(first: uuid.UUID | None, last: uuid.UUID, only: bool = False) -> Iterator[TurnChunk]:
    """The turns of the conversations after `first` up to `last`; with `only`, of `last` alone."""
    last_key: TurnKey = (last, -1) if only else (first or uuid.UUID(int=0), LAST if first else 0)
    while True:
        rows = _read_turns(last_key, last)
        yield TurnChunk(rows, read_index([row["turn_id"] for row in rows]))
        if len(rows) < TURNS:
            return
        last_key = rows[-1]["conversation_id"], rows[-1]["turn_no"]


def read_additions(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, list[Row]]:
    """The additions of the conversations from one id to another, in order."""
    sql = dialect()
    by_conversation = defaultdict[uuid.UUID, list[Row]](list)
    for row in _select_rows(
        f"source = '{ADDITION}' AND conversation_id >= %s AND conversation_id <= %s "
        "ORDER BY conversation_id, history_id",
        [sql.uuid_param(first), sql.uuid_param(last)],
    ):
        by_conversation[row["conversation_id"]].append(row)
    return by_conversation


def read_index(turn_ids: Sequence[uuid.UUID | None]) -> dict[uuid.UUID, list[IndexEntry]]:
    """The index entries of some turns. One row per turn, because rows cost more than entries."""
    keys = [dialect().uuid_param(key) for key in turn_ids if key]
    if not keys:
        return {}
    entry = f"kind || '{_SEPARATORS[0]}' || value || '{_SEPARATORS[0]}' || role"
    gathered = (
        f"string_agg({entry}, '{_SEPARATORS[1]}' ORDER BY id)"
        if connection.vendor == "postgresql"
        else f"group_concat({entry}, '{_SEPARATORS[1]}')"
    )
    rows = _fetch_rows(
        f"SELECT turn_id, {gathered} FROM ce_turn_index WHERE turn_id IN ({', '.join(['%s'] * len(keys))}) "
        "GROUP BY turn_id",
        keys,
    )
    return {_to_uuid(key): [_split_entry(text) for text in joined.split(_SEPARATORS[1])] for key, joined in rows}


def _split_entry(text: str) -> IndexEntry:
    kind, value, role = text.split(_SEPARATORS[0])
    return kind, value, role


def _read_turns(after: TurnKey, last: uuid.UUID) -> list[Row]:
    sql = dialect()
    return _select_rows(
        "(conversation_id, turn_no) > (%s, %s) AND conversation_id >= %s AND conversation_id <= %s "
        f"AND source <> '{ADDITION}' ORDER BY conversation_id, turn_no LIMIT {TURNS}",
        [sql.uuid_param(after[0]), after[1], sql.uuid_param(after[0]), sql.uuid_param(last)],
    )


def _select_rows(condition: str, params: Sequence[Any]) -> list[Row]:
    """Rows, although the database cannot read a value of one."""
    try:
        return [_convert_row(dict(zip(_COLUMNS, row, strict=True))) for row in _fetch(_COLUMNS, condition, params)]
    except InternalError as refused:
        if not is_damaged(refused):
            raise
    return [_select_by_column(key) for (key,) in _fetch(["history_id"], condition, params)]


def _select_by_column(key: int) -> Row:
    """One row; what cannot be read of it is UNREADABLE."""
    row, damaged = dict[str, Any](), []
    for name in _COLUMNS:
        try:
            ((row[name],),) = _fetch([name], "history_id = %s", [key])
        except InternalError as refused:
            if not is_damaged(refused):
                raise
            row[name] = None
            damaged.append(name)
    return _convert_row(row) | dict.fromkeys(damaged, UNREADABLE)


def _fetch(names: Sequence[str], condition: str, params: Sequence[Any]) -> list[Any]:
    text = "::text" if connection.vendor == "postgresql" else ""
    columns = ", ".join(f"{name}{text}" if name in JSON_COLUMNS else name for name in names)
    return _fetch_rows(f"SELECT {columns} FROM ce_conversation_history WHERE {condition}", params)


def _convert_row(row: Row) -> Row:
    for name in ("conversation_id", "turn_id"):
        row[name] = None if row[name] is None else _to_uuid(row[name])
    row["created_at"] = dialect().read_time(row["created_at"])
    row["cost"] = None if row["cost"] is None else Decimal(str(row["cost"]))
    for name in ("replayable", "audit_incomplete"):
        row[name] = bool(row[name])
    for name in ("recording", "seal"):
        row[name] = None if row[name] is None else bytes(row[name])
    for name in JSON_COLUMNS:
        row[name] = None if row[name] is None else _parse_document(row[name])
    return row


def _parse_document(text: Any) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"unreadable": str(text)}


def _fetch_rows(sql: str, params: Sequence[Any]) -> list[Any]:
    with read_any_text(), protect_transaction(), connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def _to_uuid(value: Any) -> uuid.UUID:
    return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))
