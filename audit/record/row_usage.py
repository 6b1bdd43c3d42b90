"""How often configuration rows decided turns recently, and when they last did (R58)."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from convengine.server.app_interfaces import RowUsage
from convengine.server.database.sql import dialect

#: Counting ends here, because each counted entry must be read.
MOST = 1000
_SQL = """SELECT wanted.one, wanted.other,
    (SELECT count(*) FROM (SELECT 1 FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other
        AND created_at >= %s LIMIT %s) AS found),
    (SELECT max(created_at) FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other)
    FROM wanted"""


def count_row_usage(rows: Sequence[tuple[str, str]], since: datetime) -> dict[tuple[str, str], RowUsage]:
    """For rows by (table, primary key as text): how often each decided a turn since then; one query for all."""
    if not rows:
        return {}
    sql_dialect = dialect()
    values = ", ".join(["(%s, %s)"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH wanted(one, other) AS (VALUES {values}) {_SQL}",
            [*(part for row in rows for part in row), sql_dialect.time_param(since), MOST],
        )
        found = cursor.fetchall()
    return {
        (table, pk): RowUsage(count, sql_dialect.read_time(last) if last is not None else None)
        for table, pk, count, last in found
    }
