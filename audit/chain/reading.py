"""The record, read for its seals: turn after turn, in few statements, however long it is.

What is read of a turn fits into memory; of a conversation, or of all, it need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import connection

from audit.chain.pieces import CALL, group_of, of_calls, of_deciding
from audit.chain.stored import OF_EVENTS, Piece
from convengine.codec import in_order
from convengine.domain.chain import Pieces
from convengine.sessions.sealing import DOCUMENTS, FRAME, SAID
from convengine.sessions.sql import dialect

#: Turns that are read at one go.
TURNS = 400
LAST = 2**31 - 1
#: A place in the order of all turns: conversation and turn.
Place = tuple[uuid.UUID, int]
OfCalls = tuple[uuid.UUID, int | None, uuid.UUID | None]


@dataclass
class Bundle:
    """The events of one turn, as they came: not looked at yet."""

    turn_id: uuid.UUID | None
    heads: bytes
    payloads: bytes
    count: int
    #: The only configuration that they name; null when they name several, or none.
    config_version: int | None

    def by_group(self, last_seq: int) -> Pieces | None:
        """The pieces of the events up to a number; null when they must be looked at one by one."""
        heads, payloads = self.heads.split(b"\n"), self.payloads.split(b"\n")
        if len(heads) != self.count or len(payloads) != self.count:
            return None
        numbers = [int(head[: head.index(b" ")]) for head in heads]
        if any(map(int.__ge__, numbers, numbers[1:])):
            # Mostly they stand in their order; a database that sorted them all would take as long as for all the rest.
            places = sorted(range(self.count), key=numbers.__getitem__)
            heads, payloads = [heads[place] for place in places], [payloads[place] for place in places]
            numbers.sort()
        if numbers[-1] > last_seq or len(set(numbers)) != self.count:
            return None
        hashed = in_order(orjson.loads(b"[" + b",".join(payloads) + b"]"))[1]
        found: dict[str, list[bytes]] = {group: [] for group in OF_EVENTS}
        for head, payload in zip(heads, hashed, strict=True):
            found[group_of(head.split(b" ", 2)[2].decode())].append(b"%b %b" % (head, payload))
        return found


@dataclass
class Chunk:
    """Turns in order, with everything that they left."""

    records: list[dict[str, Any]]
    events: dict[Place, list[Bundle]]
    deciding: dict[uuid.UUID, list[bytes]]
    #: By conversation, number and id of the turn.
    calls: dict[OfCalls, list[bytes]] = field(default_factory=dict)


def chunks(first: uuid.UUID | None, last: uuid.UUID, only: bool = False) -> Iterator[Chunk]:
    """The turns of the conversations behind `first` up to `last`; with `only`, of `last` alone."""
    place: Place = (last, -1) if only else (first or uuid.UUID(int=0), LAST if first else 0)
    while True:
        records = _records(place, last)
        end = (records[-1]["conversation_id"], records[-1]["turn_no"]) if len(records) == TURNS else (last, LAST)
        keys = [record["turn_id"] for record in records]
        yield Chunk(records, _events(place, end), _deciding(keys), _calls(place, end))
        if end == (last, LAST):
            return
        place = end


def one_by_one(conversation_id: uuid.UUID, turn_no: int) -> list[tuple[uuid.UUID | None, int | None, Piece]]:
    """The events of a turn as (turn id, configuration, piece), in order."""
    found = _pieces("conversation_id = %s AND turn_no = %s", [dialect().uuid(conversation_id), turn_no])
    return [(turn_id, version, piece) for _, turn_id, version, piece in found]


def outside(conversations: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[Piece]]:
    """The events outside of turns of these conversations, in order."""
    found = defaultdict[uuid.UUID, list[Piece]](list)
    if conversations:
        places = ", ".join(["%s"] * len(conversations))
        keys = [dialect().uuid(key) for key in conversations]
        for key, _, _, piece in _pieces(f"conversation_id IN ({places}) AND turn_no IS NULL", keys):
            found[key].append(piece)
    return found


def _pieces(condition: str, params: Sequence[Any]) -> Iterator[tuple[uuid.UUID, uuid.UUID | None, int | None, Piece]]:
    payload = "payload_json::text" if connection.vendor == "postgresql" else "payload_json"
    for key, turn_id, version, seq, stage, at, text in _rows(
        f"SELECT conversation_id, turn_id, config_version, seq, stage, {_microseconds()}, {payload} FROM ce_audit "
        f"WHERE {condition} ORDER BY seq, audit_id",
        params,
    ):
        try:
            hashed = in_order([orjson.loads(text)])[1][0]
        except orjson.JSONDecodeError:
            hashed = str(text).encode()
        yield _known(key), _uuid(turn_id), version, Piece(seq, str(stage), group_of(str(stage)), int(at or 0), hashed)


def _records(after: Place, last: uuid.UUID) -> list[dict[str, Any]]:
    here = dialect()
    text = "::text" if connection.vendor == "postgresql" else ""
    columns = (*FRAME, *SAID, "recording", "chain")
    found = _rows(
        f"SELECT {', '.join(columns)}, {', '.join(f'{name}{text}' for name in DOCUMENTS)} FROM ce_conversation_history "
        "WHERE (conversation_id, turn_no) > (%s, %s) AND conversation_id <= %s "
        f"ORDER BY conversation_id, turn_no LIMIT {TURNS}",
        [here.uuid(after[0]), after[1], here.uuid(last)],
    )
    return [_record(dict(zip((*columns, *DOCUMENTS), row, strict=True))) for row in found]


def _record(row: dict[str, Any]) -> dict[str, Any]:
    here = dialect()
    for name in ("conversation_id", "turn_id"):
        row[name] = _uuid(row[name])
    row["created_at"] = here.read_time(row["created_at"])
    for name in ("replayable", "audit_incomplete"):
        row[name] = bool(row[name])
    for name in ("recording", "chain"):
        row[name] = None if row[name] is None else bytes(row[name])
    for name in DOCUMENTS:
        row[name] = None if row[name] is None else _parsed(row[name])
    return row


def _parsed(text: Any) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"unreadable": str(text)}


def _events(after: Place, end: Place) -> dict[Place, list[Bundle]]:
    """Each turn is one row: what a row costs is paid once for its eighty events."""
    here, found = dialect(), defaultdict[Place, list[Bundle]](list)
    if connection.vendor == "postgresql":
        gathered = (
            f"string_agg(seq || ' ' || {_microseconds()} || ' ' || stage, E'\\n'), "
            "string_agg(payload_json::text, E'\\n')"
        )
    else:
        gathered = (
            f"group_concat(seq || ' ' || {_microseconds()} || ' ' || stage, char(10)), "
            "group_concat(payload_json, char(10))"
        )
    sql = f"""
        SELECT conversation_id, turn_no, turn_id, {gathered}, count(*),
               min(COALESCE(config_version, 0)), max(COALESCE(config_version, 0))
          FROM ce_audit
         WHERE (conversation_id, turn_no) > (%s, %s) AND (conversation_id, turn_no) <= (%s, %s)
           AND conversation_id >= %s AND conversation_id <= %s AND turn_no IS NOT NULL
         GROUP BY conversation_id, turn_no, turn_id"""
    for key, turn_no, turn_id, heads, payloads, count, least, most in _rows(
        sql, [*_between(after, end), here.uuid(after[0]), here.uuid(end[0])]
    ):
        bundle = Bundle(_uuid(turn_id), heads.encode(), payloads.encode(), count, least if least == most else None)
        found[_known(key), turn_no].append(bundle)
    return found


def _deciding(turns: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[bytes]]:
    here, found = dialect(), defaultdict[uuid.UUID, list[Any]](list)
    if turns:
        places = ", ".join(["%s"] * len(turns))
        for turn_id, *row, at in _rows(
            f"SELECT turn_id, table_name, row_pk, role, created_at FROM ce_turn_row WHERE turn_id IN ({places}) "
            "ORDER BY id",
            [here.uuid(key) for key in turns],
        ):
            found[_known(turn_id)].append((*row, here.read_time(at)))
    return {key: of_deciding(rows) for key, rows in found.items()}


def _calls(after: Place, end: Place) -> dict[OfCalls, list[bytes]]:
    here, found = dialect(), defaultdict[OfCalls, list[Any]](list)
    for row in _rows(
        f"SELECT {', '.join(CALL)} FROM ce_llm_call_log WHERE (conversation_id, COALESCE(turn_no, 0)) > (%s, %s) "
        "AND (conversation_id, COALESCE(turn_no, 0)) <= (%s, %s) AND conversation_id >= %s AND conversation_id <= %s "
        "ORDER BY llm_call_id",
        [*_between(after, end), here.uuid(after[0]), here.uuid(end[0])],
    ):
        values = dict(zip(CALL, row, strict=True))
        values["conversation_id"], values["turn_id"] = _uuid(values["conversation_id"]), _uuid(values["turn_id"])
        values["created_at"] = here.read_time(values["created_at"])
        found[values["conversation_id"], values["turn_no"], values["turn_id"]].append(values)
    return {key: of_calls(rows) for key, rows in found.items()}


def _between(after: Place, end: Place) -> list[Any]:
    """The places behind one up to another. Beside them a statement says the same of the conversations alone: of pairs
    PostgreSQL does not know how few they are, and would read the whole table.
    """
    here = dialect()
    return [here.uuid(after[0]), after[1], here.uuid(end[0]), end[1]]


def _microseconds() -> str:
    """The time of an event as a whole number."""
    if connection.vendor == "postgresql":
        return "(extract(epoch FROM created_at) * 1000000)::bigint"
    fraction = "CAST(substr(substr(created_at, 21) || '000000', 1, 6) AS INTEGER)"
    return f"(CAST(strftime('%%s', substr(created_at, 1, 19)) AS INTEGER) * 1000000 + {fraction})"


def _rows(sql: str, params: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor, _whatever_it_holds():
        cursor.execute(sql, params)
        return list(cursor.fetchall())


@contextmanager
def _whatever_it_holds() -> Iterator[None]:
    """SQLite keeps any bytes in a text, also such as are none: they are read all the same, and found to be changed."""
    if connection.vendor == "postgresql":
        yield
        return
    raw = connection.connection
    before, raw.text_factory = raw.text_factory, lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        raw.text_factory = before


def _uuid(value: Any) -> uuid.UUID | None:
    return value if value is None or isinstance(value, uuid.UUID) else uuid.UUID(str(value))


def _known(value: Any) -> uuid.UUID:
    return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))
