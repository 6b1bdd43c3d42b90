"""How many bytes an ordinary turn stores, and an edit."""

from dataclasses import dataclass

from bench import load
from bench.postgres import Postgres
from bench.product import Product, Products
from bench.report import Result

_TABLES = """
    SELECT c.oid::regclass::text, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n
        ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname = 'public'"""


@dataclass(frozen=True)
class Size:
    """The bytes of a database: of its rows, and of all files with indexes and the free space in pages."""

    rows: int
    files: int


def of_a_turn(postgres: Postgres, product: Product, turns: int) -> Result:
    """Growth of the database over some turns of eight conversations."""
    lines = [load.Line(product.server.port, product.conversation().requests()) for _ in range(8)]
    for line in lines:
        line.turn()
    before = _size(postgres, product)
    for _ in range(turns // len(lines)):
        for line in lines:
            line.turn()
    return _grown("an ordinary turn", before, _size(postgres, product), turns // len(lines) * len(lines), 20)


def of_an_edit(products: Products, edits: int) -> Result:
    """Growth of the database over some edits of one rule among 5,000."""
    with products.world(5_000, 10, workers=1, threads=1) as product:
        before = _size(products.postgres, product)
        for number in range(edits):
            product.call("edit", scoped=number % 2 == 0)
        return _grown("an edit of one rule among 5,000", before, _size(products.postgres, product), edits, 100)


def _grown(what: str, before: Size, after: Size, times: int, limit: int) -> Result:
    rows, files = ((new - old) / times / 1024 for new, old in ((after.rows, before.rows), (after.files, before.files)))
    return Result("bytes", f"rows of {what} ({files:.0f} KB with indexes)", rows, limit, limit * 0.75, "KB")


def _size(postgres: Postgres, product: Product) -> Size:
    with postgres.connect(product.database) as connection:
        tables = connection.execute(_TABLES).fetchall()
        rows = [connection.execute(f"SELECT sum(pg_column_size(t.*)) FROM {name} t").fetchone() for name, _ in tables]
    return Size(sum(int(row[0] or 0) for row in rows if row), sum(files for _, files in tables))
