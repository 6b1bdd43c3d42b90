"""A table's content as a tree of two levels: an index blob that names chunk blobs of some sixty rows.

The rows' keys alone decide where a chunk begins, so the same rows always give the same tree, and an edit of one row
changes one chunk and the index.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from config_admin.releases.blobs import Blobs, canonical
from config_admin.releases.content import up_to_date
from config_admin.validation.stored_columns import key_of
from convengine.json_value import Json

Pk = Any
#: One row: column -> JSON value.
Content = Mapping[str, Json]
#: One in this many keys begins a chunk.
CHUNK_ROWS = 64


class ChunkEntry(NamedTuple):
    """An entry of an index: the first key of a chunk, its number of rows, and its blob."""

    first: Pk
    rows: int
    hash: str


class RowDifference(NamedTuple):
    """A row that differs between two configurations; None on one side: the row is missing."""

    pk: Pk
    before: Content | None
    after: Content | None

    @property
    def how(self) -> str:
        """`added`, `changed` or `removed`."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def fields(self) -> dict[str, tuple[Json, Json]]:
        """Before and after of each changed column, if the row is on both sides."""
        if self.before is None or self.after is None:
            return {}
        pairs = {name: (self.before[name], value) for name, value in self.after.items()}
        return {name: pair for name, pair in pairs.items() if not has_same_text(*pair)}


def begins_chunk(pk: Pk) -> bool:
    """True for the first keys of chunks."""
    return int.from_bytes(hashlib.blake2b(str(pk).encode(), digest_size=4).digest(), "big") % CHUNK_ROWS == 0


def index_of(blobs: Blobs, root: str | None) -> list[ChunkEntry]:
    """The chunks of a table, in key order. Null: no rows."""
    return [ChunkEntry(*entry) for entry in blobs.get(root)] if root else []


def rows_of(blobs: Blobs, table: str, chunks: Sequence[ChunkEntry]) -> dict[Pk, Content]:
    """The rows of some chunks by primary key, in key order, with the columns of today."""
    blobs.fetch(chunk.hash for chunk in chunks)
    key = key_of(table)
    by_key: dict[Pk, Content] = {}
    for chunk in chunks:
        body = blobs.get(chunk.hash)
        for values in body["rows"]:
            row = up_to_date(table, dict(zip(body["columns"], values, strict=True)))
            by_key[row[key]] = row
    return by_key


def row_of(blobs: Blobs, table: str, root: str | None, pk: Pk) -> Content | None:
    """One row. Returns None if the tree does not have it. Reads at most one chunk."""
    index = index_of(blobs, root)
    at = _find_chunk(index, pk)
    return rows_of(blobs, table, index[at : at + 1]).get(pk)


def build(blobs: Blobs, table: str, rows: Iterable[Content]) -> str | None:
    """The tree of all rows of a table: the hash of its index. Returns None without rows."""
    key = key_of(table)
    chunks = _split(blobs, key, sorted(rows, key=lambda row: row[key]))
    return blobs.add(chunks) if chunks else None


def patch(blobs: Blobs, table: str, root: str | None, changes: Mapping[Pk, Content | None]) -> str | None:
    """The tree with some rows inserted, replaced or deleted (None); other chunks are neither read nor written.

    Returns None if no row is left.
    """
    key = key_of(table)
    index = index_of(blobs, root)
    hit = _find_hit_chunks(index, changes)
    blobs.fetch(index[at].hash for at in hit)
    chunks: list[ChunkEntry] = []
    for at, chunk in enumerate(index):
        if at not in hit:
            chunks.append(chunk)
        elif at - 1 not in hit:
            run = _run(hit, at)
            rows: dict[Pk, Content | None] = {**rows_of(blobs, table, index[run.start : run.stop])}
            rows |= {pk: row for pk, row in changes.items() if _find_chunk(index, pk) in run}
            chunks += _split(blobs, key, [row for _, row in sorted(rows.items()) if row is not None])
    if not index:
        chunks = _split(blobs, key, [row for _, row in sorted(changes.items()) if row is not None])
    return blobs.add(chunks) if chunks else None


def differences(blobs: Blobs, table: str, before: str | None, after: str | None) -> list[RowDifference]:
    """The rows in which two trees differ, in key order. Common chunks are not read."""
    if before == after:
        return []
    old, new = apart(blobs, before, after)
    blobs.fetch(chunk.hash for chunk in (*old, *new))
    was, now = rows_of(blobs, table, old), rows_of(blobs, table, new)
    changes = (RowDifference(pk, was.get(pk), now.get(pk)) for pk in sorted(was.keys() | now.keys()))
    return [difference for difference in changes if not has_same_text(difference.before, difference.after)]


def apart(blobs: Blobs, before: str | None, after: str | None) -> tuple[list[ChunkEntry], list[ChunkEntry]]:
    """The chunks that only one of two trees has: of the one before, and of the one after."""
    blobs.fetch(root for root in (before, after) if root)
    old, new = index_of(blobs, before), index_of(blobs, after)
    shared = {chunk.hash for chunk in old} & {chunk.hash for chunk in new}
    return [chunk for chunk in old if chunk.hash not in shared], [chunk for chunk in new if chunk.hash not in shared]


def has_same_text(value: Json, other: Json) -> bool:
    """Equal in the text that a release stores: here 1 is not 1.0, which `equal_json` takes for the same."""
    return value == other and canonical(value) == canonical(other)


def _find_chunk(index: list[ChunkEntry], pk: Pk) -> int:
    return max(bisect_right(index, pk, key=lambda chunk: chunk.first) - 1, 0)


def _find_hit_chunks(index: list[ChunkEntry], changes: Mapping[Pk, Content | None]) -> set[int]:
    """The indexes of chunks to write: those of the keys, and the one before if a first row is deleted."""
    hit: set[int] = set()
    for pk in changes if index else ():
        at = _find_chunk(index, pk)
        hit.add(at)
        if changes[pk] is None and index[at].first == pk and at:
            hit.add(at - 1)
    return hit


def _run(hit: set[int], start: int) -> range:
    stop = start
    while stop in hit:
        stop += 1
    return range(start, stop)


def _split(blobs: Blobs, key: str, rows: list[Content]) -> list[ChunkEntry]:
    """Store the rows, which are in key order, in chunks; the keys decide where a chunk begins."""
    groups: list[list[Content]] = []
    for row in rows:
        if not groups or begins_chunk(row[key]):
            groups.append([])
        groups[-1].append(row)
    return [_store_chunk(blobs, key, group) for group in groups]


def _store_chunk(blobs: Blobs, key: str, rows: list[Content]) -> ChunkEntry:
    columns = sorted(rows[0])
    body: dict[str, Json] = {"columns": columns, "rows": [[row[column] for column in columns] for row in rows]}
    return ChunkEntry(rows[0][key], len(rows), blobs.add(body))
