"""The index of turns by deciding row and by rare stage. Everything in it follows from the turns' rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Exists, OuterRef

from audit.models import CeTurnIndex
from audit.record.document import list_deciding_rows
from audit.record.form_steps import FORM_STAGES, FormProgress, encode_steps
from audit.record.task_errors import RULE_STAGE, find_rule_role
from convengine.engine.stages import COMMON, base_name
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import Statement, dialect
from convengine.server.database.unreadable import UNREADABLE
from convengine.server.interfaces.turn_reader import DecidingRow
from convengine.server.interfaces.turn_reports import RowUsage

#: What a turn is found by: (kind, value, role).
IndexEntry = tuple[str, str, str]
_INTO = "INSERT INTO ce_turn_index (turn_id, at, kind, value, role) SELECT %s, %s, "
_PARTS = ", ".join(f"json_extract(value, '$[{index}]')" for index in range(3))
_INSERT = {
    "postgresql": f"{_INTO}entry ->> 0, entry ->> 1, entry ->> 2 FROM jsonb_array_elements(%s::jsonb) AS e(entry)",
    "sqlite": f"{_INTO}{_PARTS} FROM json_each(%s)",
}


def list_index_entries(entries: Sequence[Mapping[str, Any]], steps: Sequence[FormProgress] = ()) -> list[IndexEntry]:
    """The index entries of a document: its deciding rows, then its rare stages, each once.

    The role of the first stage of forms has the steps of the turn's form, that of the lifecycle where it went last, and
    that of errors of rules whether one of them was of a task.
    """
    # Most stages occur often: each name is looked at once.
    names = dict.fromkeys([entry.get("stage") for entry in entries])
    stages = dict.fromkeys(base_name(name) for name in names if name)
    roles = {next((stage for stage in FORM_STAGES if stage in stages), ""): encode_steps(steps)}
    roles |= {stage: read_role(entries) for stage, read_role in _ROLES.items() if stage in stages}
    return [
        *dict.fromkeys(list_deciding_rows(entries)),
        *((CeTurnIndex.STAGE, stage, roles.get(stage, "")) for stage in stages if stage not in COMMON),
    ]


def _read_rule_error(entries: Sequence[Mapping[str, Any]]) -> str:
    """The role of a task if a rule with a task failed in the turn, else blank."""
    return max(find_rule_role(str(entry.get("stage")), entry.get("payload") or {}) for entry in entries)


def _read_last_move(entries: Sequence[Mapping[str, Any]]) -> str:
    """Where the lifecycle of the session went at last in a turn that moved it."""
    moves = (entry["payload"] for entry in reversed(entries) if entry.get("stage") == SESSION_LIFECYCLE)
    return str(next(moves).get("to") or "")


#: What the role of a stage is read from.
_ROLES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], str]] = {
    str(SESSION_LIFECYCLE): _read_last_move,
    RULE_STAGE: _read_rule_error,
}


def has_entry(kind: str, *values: str, **more: str) -> Exists:
    """The condition on turns with an entry of a kind that has one of some values, and fulfils `more` conditions."""
    return Exists(CeTurnIndex.objects.filter(turn_id=OuterRef("turn_id"), kind=kind, value__in=values, **more))


#: The turns with one of some rare stages.
has_stage = partial(has_entry, CeTurnIndex.STAGE)


def hash_entries(entries: Iterable[IndexEntry]) -> int:
    """A hash of index entries in any order. The row holds it under its seal, so that nobody changes the index."""
    return int.from_bytes(sha256(dumps(sorted(entries)).encode()).digest()[:8], signed=True)


def parse_index_entries(text: str | None) -> list[IndexEntry]:
    """Stored entries from one JSON text; what cannot be read is an entry that no row has."""
    return [] if text is None else [(text, "", "")] if text == UNREADABLE else orjson.loads(text)


def are_of_rows(entries: Sequence[IndexEntry], rows: Iterable[tuple[int, bool]]) -> bool:
    """True when these are the index entries of some rows, in order, and no others.

    A row is its hash, and whether its entries may be absent.
    """
    for expected, is_optional in rows:
        counts = range(len(entries), -1, -1)
        count = next((number for number in counts if hash_entries(entries[:number]) == expected), None)
        if count is None and not is_optional:
            return False
        entries = entries[count or 0 :]
    return not entries


def insert_index_stmt(turn_id: UUID, at: datetime, index_entries: Sequence[IndexEntry]) -> Statement:
    sql = dialect()
    return Statement(_INSERT[sql.vendor], [sql.uuid_param(turn_id), sql.time_param(at), dumps(index_entries)])


def read_index_entries(turn_ids: Iterable[UUID]) -> dict[UUID, list[IndexEntry]]:
    """The stored entries of some turns, in order."""
    by_turn: dict[UUID, list[IndexEntry]] = {}
    rows = CeTurnIndex.objects.filter(turn_id__in=list(turn_ids)).order_by("id")
    for turn_id, *entry in rows.values_list("turn_id", "kind", "value", "role"):
        by_turn.setdefault(turn_id, []).append(tuple(entry))
    return by_turn


def read_deciding_rows(turn_ids: Iterable[UUID]) -> Mapping[UUID, list[DecidingRow]]:
    """The deciding rows of each turn, in order. One query."""
    return {
        turn_id: [DecidingRow(role, table, pk) for table, pk, role in entries if table != CeTurnIndex.STAGE]
        for turn_id, entries in read_index_entries(turn_ids).items()
    }


#: Counting ends here, because each counted entry must be read.
MOST = 1000
_SQL = """SELECT wanted.kind, wanted.value,
    (SELECT count(*) FROM (SELECT 1 FROM ce_turn_index i WHERE i.kind = wanted.kind AND i.value = wanted.value
        AND i.at >= %s LIMIT %s) AS counted),
    (SELECT max(i.at) FROM ce_turn_index i WHERE i.kind = wanted.kind AND i.value = wanted.value)
    FROM wanted"""


def count_row_usage(rows: Sequence[tuple[str, str]], since: datetime) -> dict[tuple[str, str], RowUsage]:
    """For rows by (table, primary key as text): how often each decided a turn since then, at most MOST, and when last.

    One query for all.
    """
    if not rows:
        return {}
    sql_dialect = dialect()
    values = ", ".join(["(%s, %s)"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH wanted(kind, value) AS (VALUES {values}) {_SQL}",
            [*(part for row in rows for part in row), sql_dialect.time_param(since), MOST],
        )
        usages = cursor.fetchall()
    return {
        (table, pk): RowUsage(count, sql_dialect.read_time(last) if last is not None else None)
        for table, pk, count, last in usages
    }
