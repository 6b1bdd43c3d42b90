"""Triggers that count every write to a configuration table, from whatever source (R56).

PostgreSQL has statement triggers. They fire before the statement, so that a writer takes the head's lock before any
row's: two writers can wait for each other, but never in a circle. SQLite only has row triggers.
"""

from collections.abc import Iterable, Iterator

from django.db.backends.base.base import BaseDatabaseWrapper

_RAISE = "UPDATE ce_config_head SET write_counter = write_counter + 1 WHERE id = 1"
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION ce_config_written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN {_RAISE}; RETURN NULL; END $$"""


def install(connection: BaseDatabaseWrapper, tables: Iterable[str]) -> None:
    """Add the triggers to the tables, replacing existing ones.

    Called after every migration, because SQLite loses a table's triggers when it alters the table.
    """
    statements = _postgresql(tables) if connection.vendor == "postgresql" else _sqlite(tables)
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _postgresql(tables: Iterable[str]) -> Iterator[str]:
    yield _FUNCTION
    for table in tables:
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_written BEFORE INSERT OR UPDATE OR DELETE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION ce_config_written()"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_emptied BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION ce_config_written()"
        )


def _sqlite(tables: Iterable[str]) -> Iterator[str]:
    for table in tables:
        for event in ("INSERT", "UPDATE", "DELETE"):
            name = f"{table}_{event.lower()}"
            yield f"DROP TRIGGER IF EXISTS {name}"
            yield f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW BEGIN {_RAISE}; END"
