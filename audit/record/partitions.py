"""The partitions of `ce_audit` on PostgreSQL: by range of `audit_id`, made ahead of need, dropped by retention.

Source: R84.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from convengine.engine.turn.job import Counts, Every, Job

#: Ids per partition, and partitions that exist beyond the newest id.
SIZE = 10_000_000
AHEAD = 2
_PREFIX = "ce_audit_p"


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


def ensure_partitions() -> int:
    """Make the partitions for the next ids; returns how many. Only on PostgreSQL."""
    if connection.vendor != "postgresql":
        return 0
    newest, attached = _newest(), set(_list_attached())
    missing = [number for number in range(newest, newest + AHEAD + 1) if number not in attached]
    for number in missing:
        _attach(number)
    return len(missing)


def drop_before(before: datetime) -> Iterator[str]:
    """Drop the partitions with only older events, oldest first, and return their names.

    The current partition and later ones stay. Turns go on meanwhile: a partition is detached before it is dropped, and
    both wait only for open transactions.
    """
    if connection.vendor != "postgresql":
        return
    _finish()
    newest = _newest()
    for number in sorted(_list_attached()):
        if number >= newest or not _is_older(number, before):
            return
        _detach(number)
        yield _name(number)


def _keep_ahead() -> Iterator[Counts]:
    if made := ensure_partitions():
        yield {"partitions": made}


def _newest() -> int:
    """The number of the current partition."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM ce_audit_audit_id_seq")
        return int(cursor.fetchone()[0]) // SIZE


def _list_attached() -> list[int]:
    """The numbers of the partitions of the table."""
    return _numbers("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ce_audit'::regclass")


def _numbers(sql: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [int(str(name).removeprefix(_PREFIX)) for (name,) in cursor.fetchall()]


def _is_older(number: int, before: datetime) -> bool:
    """True when the last events of a partition are older, or it has none."""
    with connection.cursor() as cursor:
        # Ids rise with time, except for simultaneous turns.
        newest = f"SELECT created_at FROM {_name(number)} ORDER BY audit_id DESC LIMIT 10000"
        cursor.execute(f"SELECT coalesce(max(created_at) < %s, true) FROM ({newest}) AS last", [before])
        return bool(cursor.fetchone()[0])


def _attach(number: int) -> None:
    """Make a partition as a table and attach it: made directly as a partition, it would block every turn."""
    name, start = _name(number), number * SIZE
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {name} (LIKE ce_audit INCLUDING ALL)")
        cursor.execute(f"ALTER TABLE ce_audit ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({start + SIZE})")


def _detach(number: int) -> None:
    with connection.cursor() as cursor:
        # A waiting lock blocks all later ones.
        cursor.execute("SET lock_timeout = '20s'")
        try:
            gently = "" if connection.in_atomic_block else " CONCURRENTLY"
            cursor.execute(f"ALTER TABLE ce_audit DETACH PARTITION {_name(number)}{gently}")
            cursor.execute(f"DROP TABLE {_name(number)}")
        finally:
            cursor.execute("RESET lock_timeout")


def _finish() -> None:
    """Finish what a dead process began: a partition half detached, or detached and not dropped."""
    half = (
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ce_audit'::regclass AND inhdetachpending"
    )
    off = f"""SELECT relname FROM pg_class c WHERE relkind = 'r' AND relname ~ '^{_PREFIX}[0-9]+$'
              AND pg_table_is_visible(oid) AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = c.oid)"""
    for number in _numbers(half):
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE ce_audit DETACH PARTITION {_name(number)} FINALIZE")
    for number in _numbers(off):
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {_name(number)}")


def _name(number: int) -> str:
    return f"{_PREFIX}{number}"


def _partition_sql(number: int) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {_name(number)} PARTITION OF ce_audit "
        f"FOR VALUES FROM ({number * SIZE}) TO ({(number + 1) * SIZE})"
    )


JOB = Job(
    "audit_partitions",
    "Prepare audit partitions",
    "Creates the next partitions of the audit table (PostgreSQL only).",
    Every(3600),
    _keep_ahead,
)
