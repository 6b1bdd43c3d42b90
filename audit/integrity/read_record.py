"""Read the rows of the record for their seals: turn after turn, in few statements.

Some hundred turns fit into memory; a conversation need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import BooleanField, QuerySet, TextField
from django.db.models.expressions import RawSQL

from audit.seal import SEALED
from convengine.server.database.sql import dialect
from convengine.server.database.unreadable import read_values
from convengine.server.sessions.models import ADDITION, CeConversationHistory

#: Turns per read.
TURNS = 400
LAST = 2**31 - 1
#: A position in the order of all turns: conversation and turn.
TurnKey = tuple[uuid.UUID, int]
#: A row of the record, by column.
Row = dict[str, Any]
_IS_WANTED = (
    f"source <> '{ADDITION}' AND (conversation_id, turn_no) > (%s, %s) AND (conversation_id, turn_no) <= (%s, %s)"
)
#: The index entries of a row's turn, in order, as one JSON text. This name is no column.
INDEX = "index_entries"
_INDEX_SQL = {
    "postgresql": (
        "SELECT CAST(json_agg(json_build_array(kind, value, role) ORDER BY id) AS text)"
        " FROM ce_turn_index i WHERE i.turn_id = ce_conversation_history.turn_id"
    ),
    "sqlite": (
        "SELECT json_group_array(json_array(kind || '', value || '', role || ''))"
        " FROM (SELECT * FROM ce_turn_index i WHERE i.turn_id = ce_conversation_history.turn_id ORDER BY id)"
    ),
}


def read_chunks(first: uuid.UUID | None, last: uuid.UUID, only: bool = False) -> Iterator[list[Row]]:
    """The turns of the conversations after `first` up to `last`, in order; with `only`, of `last` alone.

    Without `first`, from the beginning. Each chunk has TURNS turns; only the last one has fewer, or none.
    """
    last_key: TurnKey = (last, -1) if only else (first or uuid.UUID(int=0), LAST if first else 0)
    while True:
        # In this form, PostgreSQL reads the index in order also when it plans without the values; otherwise it would
        # sort all later turns each time.
        params = [dialect().uuid_param(last_key[0]), last_key[1], dialect().uuid_param(last), LAST]
        is_wanted = RawSQL(_IS_WANTED, params, output_field=BooleanField())  # noqa: S611 - fixed text
        wanted = CeConversationHistory._base_manager.filter(is_wanted)
        rows = _read_with_index(wanted.order_by("conversation_id", "turn_no")[:TURNS])
        yield rows
        if len(rows) < TURNS:
            return
        last_key = rows[-1]["conversation_id"], rows[-1]["turn_no"]


def read_additions(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, list[Row]]:
    """The additions of the conversations from one id to another, in order."""
    by_conversation = defaultdict[uuid.UUID, list[Row]](list)
    rows = CeConversationHistory.additions.filter(conversation_id__gte=first, conversation_id__lte=last)
    for row in _read_with_index(rows.order_by("conversation_id", "history_id")):
        by_conversation[row["conversation_id"]].append(row)
    return by_conversation


def _read_with_index(rows: QuerySet[CeConversationHistory]) -> list[Row]:
    """The sealed columns of rows, their numbers and seals, and the index entries of their turns."""
    index = RawSQL(_INDEX_SQL[connection.vendor], [], output_field=TextField())  # noqa: S611 - fixed text
    return read_values(rows.annotate(**{INDEX: index}), *SEALED, "history_id", "seal", INDEX)
