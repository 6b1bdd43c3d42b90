"""Compile a release into a Snapshot: blobs in, frozen rows out; parts of earlier snapshots are reused."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from django.db import models

from config_admin.releases import tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.content import as_json
from config_admin.validation.stored_columns import kept_columns
from convengine.engine.turn import rows
from convengine.engine.turn.fault import find_unreadable_columns
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.json_value import Json

Defaults = Mapping[tuple[str, str], str]


class Chunk(NamedTuple):
    """Rows in key order, and invalid values by primary key and column."""

    rows: tuple[rows.Row, ...]
    unreadable: Mapping[Any, Mapping[str, str]]


Chunks = Mapping[str, Chunk]


@dataclass(frozen=True)
class TablePart:
    """A table of a snapshot, with the hashes of the table and its chunks."""

    root: str
    table: Table
    #: The rows of each chunk by its hash, in key order.
    chunks: Chunks


@dataclass(frozen=True)
class Compiled:
    snapshot: Snapshot
    parts: Mapping[str, TablePart]

    @property
    def manifest(self) -> dict[str, str]:
        """The root of each table that has rows."""
        return {name: part.root for name, part in self.parts.items()}


def compile_release(
    config_version: int,
    manifest: Mapping[str, str],
    defaults: Defaults,
    known: Sequence[Compiled] = (),
    blobs: Blobs | None = None,
) -> Compiled:
    """The snapshot of a release. Reads only blobs that no snapshot in `known` has.

    A known table is the same `Table` object with its indexes; a row of an unchanged chunk is the same object. `blobs`
    has those that are not stored, as those of a draft. Raises KeyError when the store lacks a blob.
    """
    parts = {name: part for name, root in manifest.items() if (part := _find_known_part(known, name, root))}
    changed = {name: root for name, root in manifest.items() if name not in parts}
    blobs = blobs or Blobs()
    blobs.fetch(changed.values())
    indexes = {name: tree.index_of(blobs, root) for name, root in changed.items()}
    held = {name: _collect_known_chunks(known, name) for name in changed}
    blobs.fetch(chunk.hash for name, index in indexes.items() for chunk in index if chunk.hash not in held[name])
    # No reading from the ORM past this point.
    for name, index in indexes.items():
        chunks = {
            chunk.hash: held[name].get(chunk.hash) or compile_chunk(name, blobs.get(chunk.hash)) for chunk in index
        }
        parts[name] = TablePart(changed[name], _build_table(name, chunks), chunks)
    tables = {name: part.table for name, part in parts.items()}
    return Compiled(Snapshot(config_version, tables, defaults), parts)


def _build_table(name: str, chunks: Chunks) -> Table:
    bad = {pk: columns for chunk in chunks.values() for pk, columns in chunk.unreadable.items()}
    return Table(name, chain.from_iterable(chunk.rows for chunk in chunks.values()), bad)


def compile_chunk(table: str, body: Mapping[str, Json]) -> Chunk:
    """The rows of a chunk. A row with an invalid value is disabled and listed."""
    key, names = rows.ROW_TYPE_OF[table].key, body["columns"]
    # Only an object can be the mark; nearly all columns have none.
    suspect = [index for index in range(len(names)) if any(type(values[index]) is dict for values in body["rows"])]
    bad = {
        values[names.index(key)]: unreadable
        for values in (body["rows"] if suspect else ())
        if (unreadable := find_unreadable_columns({names[index]: values[index] for index in suspect}))
    }
    compiled = compile_rows(table, body)
    return Chunk(tuple(_switch_off_row(row, bad[row.pk]) if row.pk in bad else row for row in compiled), bad)


def _switch_off_row(row: rows.Row, bad: Collection[str]) -> rows.Row:
    """The row with invalid values replaced by the defaults of their columns."""
    defaults = {column.name: column.default for column in fields(row) if column.default is not MISSING}
    known: dict[str, Any] = {name: defaults.get(name) for name in bad if name in _list_columns(row.table)}
    return replace(row, **{**known, "enabled": False})


def compile_rows(table: str, body: Mapping[str, Json]) -> Iterator[rows.Row]:
    """The rows of a chunk. A column that the engine does not read is dropped; a new one has its default."""
    row_type = rows.ROW_TYPE_OF[table]
    places = [(name, index) for index, name in enumerate(body["columns"]) if name in _list_columns(table)]
    for values in body["rows"]:
        yield row_type(**{name: values[index] for name, index in places})


def row_of(instance: models.Model) -> rows.Row:
    """A row of a form or an import as the engine would read it, saved or not; for the save checks."""
    table = instance._meta.db_table
    columns = kept_columns(table)
    values = [as_json(column.to_python(getattr(instance, name))) for name, column in columns.items()]
    return next(compile_rows(table, {"columns": list(columns), "rows": [values]}))


@cache
def _list_columns(table: str) -> frozenset[str]:
    return frozenset(rows.columns(rows.ROW_TYPE_OF[table]))


def _find_known_part(known: Sequence[Compiled], name: str, root: str) -> TablePart | None:
    parts = (entry.parts[name] for entry in known if name in entry.parts)
    return next((part for part in parts if part.root == root), None)


def _collect_known_chunks(known: Sequence[Compiled], name: str) -> dict[str, Chunk]:
    return {
        chunk: compiled
        for entry in known
        if name in entry.parts
        for chunk, compiled in entry.parts[name].chunks.items()
    }
