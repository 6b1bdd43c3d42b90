"""Bytes that an ordinary turn stores, and an edit."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

import psycopg

from bench import load
from bench.postgres import Postgres
from bench.product import Product, Products
from bench.report import Result

_TABLES = """
    SELECT c.oid::regclass::text, array_agg(quote_ident(a.attname)), pg_total_relation_size(c.oid)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
     GROUP BY c.oid"""


_FILES = """
    SELECT coalesce(i.indexrelid, c.oid)::regclass::text,
           CASE WHEN i.indexrelid IS NULL THEN pg_table_size(c.oid) ELSE pg_relation_size(i.indexrelid) END
      FROM pg_class c LEFT JOIN (
           SELECT indrelid, indexrelid FROM pg_index UNION ALL SELECT oid, NULL FROM pg_class WHERE relkind = 'r'
      ) AS i ON i.indrelid = c.oid
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace"""


@dataclass(frozen=True)
class Size:
    """The bytes of a database: of all values, and of all files with row headers, indexes and free space."""

    values: int
    files: int
    #: By table, with its compressed texts, and by index.
    parts: Mapping[str, int]


def measure_turn(postgres: Postgres, product: Product, turns: int) -> Result:
    """Growth of the database over some turns of eight conversations."""
    lines = [load.Line(product.server.port, product.conversation().requests()) for _ in range(8)]
    for line in lines:
        line.turn()
    before = _size(postgres, product)
    for _ in range(turns // len(lines)):
        for line in lines:
            line.turn()
    after, times = _size(postgres, product), turns // len(lines) * len(lines)
    grown = {name: (size - before.parts.get(name, 0)) / times for name, size in after.parts.items()}
    for name, size in sorted(grown.items(), key=itemgetter(1), reverse=True):
        if size >= 1:
            print(f"      {name:<40}{size:>8.0f} bytes a turn")
    return _measure_growth("an ordinary turn", before, after, times, 7)


def measure_edit(products: Products, edits: int, rules: int) -> Result:
    """Growth of the database over some edits of one rule among so many."""
    with products.world(rules, 10, workers=1, threads=1) as product:
        before = _size(products.postgres, product)
        for number in range(edits):
            product.call("edit", scoped=number % 2 == 0)
        return _measure_growth(
            f"an edit of one rule among {rules:,}", before, _size(products.postgres, product), edits, 100
        )


def _measure_growth(what: str, before: Size, after: Size, times: int, limit: int) -> Result:
    values = (after.values - before.values) / times / 1024
    files = (after.files - before.files) / times / 1024
    return Result("bytes", f"stored by {what} ({files:.0f} KB of files)", values, limit, limit * 0.75, "KB")


def _size(postgres: Postgres, product: Product) -> Size:
    with postgres.connect(product.database) as connection:
        tables = connection.execute(_TABLES).fetchall()
        values = sum(_values(connection, name, columns) for name, columns, _ in tables)
        parts: dict[str, int] = dict(connection.execute(_FILES).fetchall())
    return Size(values, sum(files for _, _, files in tables), parts)


def _values(connection: psycopg.Connection, table: str, columns: list[str]) -> int:
    sizes = " + ".join(f"coalesce(pg_column_size({column}), 0)" for column in columns)
    row = connection.execute(f"SELECT sum({sizes}) FROM {table}").fetchone()
    return int(row[0] or 0) if row else 0
