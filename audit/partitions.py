"""`ce_audit` on PostgreSQL: partitions by range of `audit_id`, made ahead of need, dropped by retention (R84)."""

from typing import Any

from django.db import connection

#: How many ids a partition holds, and how many partitions stand ready beyond the newest id.
SIZE = 10_000_000
AHEAD = 2


def create_table(schema_editor: Any, model: Any) -> None:
    """Create the partitioned table, its key, its indexes and the first partitions."""
    columns = ", ".join(
        f"{schema_editor.quote_name(field.column)} {field.db_type(schema_editor.connection)}"
        f"{'' if field.null else ' NOT NULL'}"
        for field in model._meta.local_fields
        if not field.primary_key
    )
    schema_editor.execute("CREATE SEQUENCE ce_audit_audit_id_seq AS bigint")
    schema_editor.execute(
        "CREATE TABLE ce_audit (audit_id bigint NOT NULL DEFAULT nextval('ce_audit_audit_id_seq'), "
        f"{columns}, PRIMARY KEY (audit_id)) PARTITION BY RANGE (audit_id)"
    )
    schema_editor.execute("ALTER SEQUENCE ce_audit_audit_id_seq OWNED BY ce_audit.audit_id")
    for index in model._meta.indexes:
        schema_editor.execute(index.create_sql(model, schema_editor))
    for number in range(AHEAD + 1):
        schema_editor.execute(_partition_sql(number))


def ensure() -> int:
    """Make the partitions that the coming ids need; how many were made. Elsewhere than on PostgreSQL nothing is."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM ce_audit_audit_id_seq")
        newest = int(cursor.fetchone()[0]) // SIZE
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ce_audit'::regclass")
        there = {str(row[0]) for row in cursor.fetchall()}
        missing = [number for number in range(newest, newest + AHEAD + 1) if _name(number) not in there]
        for number in missing:
            cursor.execute(_partition_sql(number))
    return len(missing)


def _name(number: int) -> str:
    return f"ce_audit_p{number}"


def _partition_sql(number: int) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {_name(number)} PARTITION OF ce_audit "
        f"FOR VALUES FROM ({number * SIZE}) TO ({(number + 1) * SIZE})"
    )
