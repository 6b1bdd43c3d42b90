"""Compare the views of the record with their definitions, because people with SQL tools read the record by them."""

from collections.abc import Iterator

from django.db import connection, transaction

from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.record.sql_views import VIEWS, list_changed_functions, list_view_stmts


def verify_views() -> Iterator[IntegrityFinding]:
    """Report the views and their functions whose definitions were changed or removed."""
    statements = list_view_stmts(connection.vendor)
    read = _read_postgresql if connection.vendor == "postgresql" else _read_sqlite
    for name, statement in zip(VIEWS, statements, strict=True):
        stored, expected = read(name, statement)
        if stored is None:
            yield create_table_finding("VIEW_CHANGED", name, "definition", "The view was removed.")
        elif stored != expected:
            text = "Its definition is not the product's, so it may show other data than the record has."
            yield create_table_finding("VIEW_CHANGED", name, "definition", text)
    for name in list_changed_functions():
        text = "The function of the views is not the product's, so they may show other data than the record has."
        yield create_table_finding("VIEW_CHANGED", name, "definition", text)


def _read_postgresql(name: str, statement: str) -> tuple[str | None, str]:
    """The stored definition, None if there is no such view, and that of a temporary one made by `statement`."""
    temporary = f"{name}_expected"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_viewdef(to_regclass(%s), false)", [name])
        (stored,) = cursor.fetchone()
        sql = statement.replace(f"CREATE OR REPLACE VIEW {name} AS", f"CREATE TEMPORARY VIEW {temporary} AS", 1)
        cursor.execute(sql, None)
        cursor.execute("SELECT pg_get_viewdef(to_regclass(%s), false)", [temporary])
        (expected,) = cursor.fetchone()
        cursor.execute(f"DROP VIEW {temporary}")
    return stored, expected


def _read_sqlite(name: str, statement: str) -> tuple[str | None, str]:
    """The stored statement of a view, None if there is no such view, and the product's one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = %s", [name])
        row = cursor.fetchone()
    return _normalize(row[0]) if row else None, _normalize(statement)


def _normalize(sql: str) -> str:
    return " ".join(sql.replace("IF NOT EXISTS ", "", 1).split())
