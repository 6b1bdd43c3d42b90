"""Read the rows of the record for their seals: turn after turn, in few statements.

Some hundred turns fit into memory; a conversation need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from audit.record.turn_index import IndexEntry
from audit.seal import SEALED
from convengine.server.database.sql import dialect
from convengine.server.database.unreadable import protect_transaction, read_any_text, read_values
from convengine.server.sessions.models import ADDITION, CeConversationHistory

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
    by_conversation = defaultdict[uuid.UUID, list[Row]](list)
    rows = CeConversationHistory.additions.filter(conversation_id__gte=first, conversation_id__lte=last)
    for row in read_values(rows.order_by("conversation_id", "history_id"), *_COLUMNS):
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
    statement = (
        f"SELECT turn_id, {gathered} FROM ce_turn_index WHERE turn_id IN ({', '.join(['%s'] * len(keys))}) "
        "GROUP BY turn_id"
    )
    with read_any_text(), protect_transaction(), connection.cursor() as cursor:
        cursor.execute(statement, keys)
        rows = cursor.fetchall()
    return {_to_uuid(key): [_split_entry(text) for text in joined.split(_SEPARATORS[1])] for key, joined in rows}


def _split_entry(text: str) -> IndexEntry:
    kind, value, role = text.split(_SEPARATORS[0])
    return kind, value, role


def _read_turns(after: TurnKey, last: uuid.UUID) -> list[Row]:
    """Some hundred turns; the index of the database serves the comparison of both columns at once."""
    params = [dialect().uuid_param(after[0]), after[1]]
    is_later = RawSQL("(conversation_id, turn_no) > (%s, %s)", params, output_field=BooleanField())
    turns = CeConversationHistory._base_manager.exclude(source=ADDITION)
    rows = turns.filter(is_later, conversation_id__gte=after[0], conversation_id__lte=last)
    return read_values(rows.order_by("conversation_id", "turn_no")[:TURNS], *_COLUMNS)


def _to_uuid(value: Any) -> uuid.UUID:
    return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))
