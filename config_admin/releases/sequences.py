"""Keep generated ids ahead of given ids (of an import, a rollback, or SQL).

SQLite does this by itself; PostgreSQL would use an id twice and refuse the next new row.
"""

from collections.abc import Iterable

from django.db import connection, models

from config_admin.releases.content import control_plane


def keep_ahead(tables: Iterable[str]) -> None:
    """Move the id sequences of tables with new rows past the highest id. They never move back."""
    if connection.vendor != "postgresql":
        return
    for table in tables:
        model = control_plane()[table]
        pk = model._meta.pk
        if isinstance(pk, models.BigAutoField):
            highest = model._base_manager.aggregate(highest=models.Max(pk.name))["highest"]
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT setval(name, greatest(%s, pg_sequence_last_value(name::regclass)))"
                    " FROM (SELECT pg_get_serial_sequence(%s, %s) AS name) AS found",
                    [highest, table, pk.column],
                )
