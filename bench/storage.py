"""How many bytes an ordinary turn stores, and an edit: all tables, indexes and oversized values together."""

from bench import load
from bench.postgres import Postgres
from bench.product import Product, Products
from bench.report import Result

_SIZE = """
    SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname = 'public'"""


def of_a_turn(postgres: Postgres, product: Product, turns: int) -> Result:
    """Growth of the database over some turns of eight conversations."""
    lines = [load.Line(product.server.port, product.conversation().requests()) for _ in range(8)]
    for line in lines:
        line.turn()
    before = _size(postgres, product)
    for _ in range(turns // len(lines)):
        for line in lines:
            line.turn()
    grown = _size(postgres, product) - before
    return Result(
        "bytes", "stored by an ordinary turn", grown / (turns // len(lines) * len(lines)) / 1024, 20, 20, "KB"
    )


def of_an_edit(products: Products, edits: int) -> Result:
    """Growth of the database over some edits of one rule among 5,000."""
    with products.world(5_000, 10, workers=1, threads=1) as product:
        before = _size(products.postgres, product)
        for number in range(edits):
            product.call("edit", scoped=number % 2 == 0)
        grown = _size(products.postgres, product) - before
    return Result("bytes", "stored by an edit of one rule among 5,000", grown / edits / 1024, 100, 20, "KB")


def _size(postgres: Postgres, product: Product) -> int:
    with postgres.connect(product.database) as connection:
        row = connection.execute(_SIZE).fetchone()
    assert row
    return int(row[0])
