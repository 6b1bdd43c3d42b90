"""Read the record for its seals: turn after turn, in few statements.

One turn fits into memory; a conversation need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import connection

from audit.record.seal.pieces import CALL, encode_calls, encode_deciding_rows, group_of
from audit.record.seal.stored_pieces import OF_EVENTS, Piece
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.seal import Pieces
from convengine.server.database.sql import dialect
from convengine.server.turns.turn_record import DOCUMENTS, FRAME, SAID

#: Turns per read.
TURNS = 400
LAST = 2**31 - 1
#: A position in the order of all turns: conversation and turn.
TurnKey = tuple[uuid.UUID, int]
CallKey = tuple[uuid.UUID, int | None, uuid.UUID | None]


@dataclass
class TurnEvents:
    """The unparsed events of one turn."""

    turn_id: uuid.UUID | None
    heads: bytes
    payloads: bytes
    count: int
    #: Their only configuration version; null if there are several or none.
    config_version: int | None

    def by_group(self, last_seq: int) -> Pieces | None:
        """The pieces of the events up to a number; null if they must be checked one by one."""
        heads, payloads = self.heads.split(b"\n"), self.payloads.split(b"\n")
        if len(heads) != self.count or len(payloads) != self.count:
            return None
        numbers = [int(head[: head.index(b" ")]) for head in heads]
        if any(map(int.__ge__, numbers, numbers[1:])):
            # They are mostly in order; a sort of everything in the database would be slow.
            places = sorted(range(self.count), key=numbers.__getitem__)
            heads, payloads = [heads[last_key] for last_key in places], [payloads[last_key] for last_key in places]
            numbers.sort()
        if numbers[-1] > last_seq or len(set(numbers)) != self.count:
            return None
        hashed = dump_in_order(orjson.loads(b"[" + b",".join(payloads) + b"]"))[1]
        groups: dict[str, list[bytes]] = {group: [] for group in OF_EVENTS}
        for head, payload in zip(heads, hashed, strict=True):
            groups[group_of(head.split(b" ", 2)[2].decode())].append(b"%b %b" % (head, payload))
        return groups


@dataclass
class TurnChunk:
    """Turns in order, with all their data."""

    records: list[dict[str, Any]]
    events: dict[TurnKey, list[TurnEvents]]
    deciding: dict[uuid.UUID, list[bytes]]
    #: By conversation, number and id of the turn.
    calls: dict[CallKey, list[bytes]] = field(default_factory=dict)


def read_chunks(first: uuid.UUID | None, last: uuid.UUID, only: bool = False) -> Iterator[TurnChunk]:
    """The turns of the conversations after `first` up to `last`; with `only`, of `last` alone."""
    last_key: TurnKey = (last, -1) if only else (first or uuid.UUID(int=0), LAST if first else 0)
    while True:
        records = _read_records(last_key, last)
        end = (records[-1]["conversation_id"], records[-1]["turn_no"]) if len(records) == TURNS else (last, LAST)
        keys = [record["turn_id"] for record in records]
        yield TurnChunk(records, _read_events(last_key, end), _read_deciding_rows(keys), _read_calls(last_key, end))
        if end == (last, LAST):
            return
        last_key = end


def read_pieces(conversation_id: uuid.UUID, turn_no: int) -> list[tuple[uuid.UUID | None, int | None, Piece]]:
    """The events of a turn as (turn id, configuration, piece), in order."""
    pieces = _select_pieces("conversation_id = %s AND turn_no = %s", [dialect().uuid_param(conversation_id), turn_no])
    return [(turn_id, version, piece) for _, turn_id, version, piece in pieces]


def read_outside_pieces(conversations: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[Piece]]:
    """The events outside of turns of these conversations, in order."""
    by_conversation = defaultdict[uuid.UUID, list[Piece]](list)
    if conversations:
        places = ", ".join(["%s"] * len(conversations))
        keys = [dialect().uuid_param(key) for key in conversations]
        for key, _, _, piece in _select_pieces(f"conversation_id IN ({places}) AND turn_no IS NULL", keys):
            by_conversation[key].append(piece)
    return by_conversation


def _select_pieces(
    condition: str, params: Sequence[Any]
) -> Iterator[tuple[uuid.UUID, uuid.UUID | None, int | None, Piece]]:
    payload = "payload_json::text" if connection.vendor == "postgresql" else "payload_json"
    for key, turn_id, version, seq, stage, at, text in _fetch_rows(
        f"SELECT conversation_id, turn_id, config_version, seq, stage, {_microseconds_sql()}, {payload} FROM ce_audit "
        f"WHERE {condition} ORDER BY seq, audit_id",
        params,
    ):
        try:
            hashed = dump_in_order([orjson.loads(text)])[1][0]
        except orjson.JSONDecodeError:
            hashed = str(text).encode()
        yield (
            _to_uuid(key),
            _to_uuid_or_none(turn_id),
            version,
            Piece(seq, str(stage), group_of(str(stage)), int(at or 0), hashed),
        )


def _read_records(after: TurnKey, last: uuid.UUID) -> list[dict[str, Any]]:
    sql_dialect = dialect()
    text = "::text" if connection.vendor == "postgresql" else ""
    columns = (*FRAME, *SAID, "recording", "chain")
    fetched = _fetch_rows(
        f"SELECT {', '.join(columns)}, {', '.join(f'{name}{text}' for name in DOCUMENTS)} FROM ce_conversation_history "
        "WHERE (conversation_id, turn_no) > (%s, %s) AND conversation_id <= %s "
        f"ORDER BY conversation_id, turn_no LIMIT {TURNS}",
        [sql_dialect.uuid_param(after[0]), after[1], sql_dialect.uuid_param(last)],
    )
    return [_convert_record(dict(zip((*columns, *DOCUMENTS), row, strict=True))) for row in fetched]


def _convert_record(row: dict[str, Any]) -> dict[str, Any]:
    sql_dialect = dialect()
    for name in ("conversation_id", "turn_id"):
        row[name] = _to_uuid_or_none(row[name])
    row["created_at"] = sql_dialect.read_time(row["created_at"])
    for name in ("replayable", "audit_incomplete"):
        row[name] = bool(row[name])
    for name in ("recording", "chain"):
        row[name] = None if row[name] is None else bytes(row[name])
    for name in DOCUMENTS:
        row[name] = None if row[name] is None else _parse_document(row[name])
    return row


def _parse_document(text: Any) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"unreadable": str(text)}


def _read_events(after: TurnKey, end: TurnKey) -> dict[TurnKey, list[TurnEvents]]:
    """One row per turn, because rows cost more than events."""
    sql_dialect, bundles = dialect(), defaultdict[TurnKey, list[TurnEvents]](list)
    if connection.vendor == "postgresql":
        gathered = (
            f"string_agg(seq || ' ' || {_microseconds_sql()} || ' ' || stage, E'\\n'), "
            "string_agg(payload_json::text, E'\\n')"
        )
    else:
        gathered = (
            f"group_concat(seq || ' ' || {_microseconds_sql()} || ' ' || stage, char(10)), "
            "group_concat(payload_json, char(10))"
        )
    sql = f"""
        SELECT conversation_id, turn_no, turn_id, {gathered}, count(*),
               min(COALESCE(config_version, 0)), max(COALESCE(config_version, 0))
          FROM ce_audit
         WHERE (conversation_id, turn_no) > (%s, %s) AND (conversation_id, turn_no) <= (%s, %s)
           AND conversation_id >= %s AND conversation_id <= %s AND turn_no IS NOT NULL
         GROUP BY conversation_id, turn_no, turn_id"""
    for key, turn_no, turn_id, heads, payloads, count, least, most in _fetch_rows(
        sql, [*_range_params(after, end), sql_dialect.uuid_param(after[0]), sql_dialect.uuid_param(end[0])]
    ):
        bundle = TurnEvents(
            _to_uuid_or_none(turn_id), heads.encode(), payloads.encode(), count, least if least == most else None
        )
        bundles[_to_uuid(key), turn_no].append(bundle)
    return bundles


def _read_deciding_rows(turns: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[bytes]]:
    sql_dialect, by_turn = dialect(), defaultdict[uuid.UUID, list[Any]](list)
    if turns:
        places = ", ".join(["%s"] * len(turns))
        for turn_id, *row, at in _fetch_rows(
            f"SELECT turn_id, table_name, row_pk, role, created_at FROM ce_turn_row WHERE turn_id IN ({places}) "
            "ORDER BY id",
            [sql_dialect.uuid_param(key) for key in turns],
        ):
            by_turn[_to_uuid(turn_id)].append((*row, sql_dialect.read_time(at)))
    return {key: encode_deciding_rows(rows) for key, rows in by_turn.items()}


def _read_calls(after: TurnKey, end: TurnKey) -> dict[CallKey, list[bytes]]:
    sql_dialect, by_turn = dialect(), defaultdict[CallKey, list[Any]](list)
    for row in _fetch_rows(
        f"SELECT {', '.join(CALL)} FROM ce_llm_call_log WHERE (conversation_id, COALESCE(turn_no, 0)) > (%s, %s) "
        "AND (conversation_id, COALESCE(turn_no, 0)) <= (%s, %s) AND conversation_id >= %s AND conversation_id <= %s "
        "ORDER BY llm_call_id",
        [*_range_params(after, end), sql_dialect.uuid_param(after[0]), sql_dialect.uuid_param(end[0])],
    ):
        values = dict(zip(CALL, row, strict=True))
        values["conversation_id"], values["turn_id"] = (
            _to_uuid_or_none(values["conversation_id"]),
            _to_uuid_or_none(values["turn_id"]),
        )
        values["created_at"] = sql_dialect.read_time(values["created_at"])
        by_turn[values["conversation_id"], values["turn_no"], values["turn_id"]].append(values)
    return {key: encode_calls(rows) for key, rows in by_turn.items()}


def _range_params(after: TurnKey, end: TurnKey) -> list[Any]:
    """The positions after one up to another. The statement also limits the conversations alone: PostgreSQL cannot
    estimate pairs, and would read the whole table.
    """
    sql_dialect = dialect()
    return [sql_dialect.uuid_param(after[0]), after[1], sql_dialect.uuid_param(end[0]), end[1]]


def _microseconds_sql() -> str:
    """The time of an event as a whole number."""
    if connection.vendor == "postgresql":
        return "(extract(epoch FROM created_at) * 1000000)::bigint"
    fraction = "CAST(substr(substr(created_at, 21) || '000000', 1, 6) AS INTEGER)"
    return f"(CAST(strftime('%%s', substr(created_at, 1, 19)) AS INTEGER) * 1000000 + {fraction})"


def _fetch_rows(sql: str, params: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor, _lenient_text():
        cursor.execute(sql, params)
        return list(cursor.fetchall())


@contextmanager
def _lenient_text() -> Iterator[None]:
    """SQLite stores any bytes in a text; invalid ones are read anyway, and found to be changed."""
    if connection.vendor == "postgresql":
        yield
        return
    raw = connection.connection
    before, raw.text_factory = raw.text_factory, lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        raw.text_factory = before


def _to_uuid_or_none(value: Any) -> uuid.UUID | None:
    return value if value is None or isinstance(value, uuid.UUID) else uuid.UUID(str(value))


def _to_uuid(value: Any) -> uuid.UUID:
    return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))
