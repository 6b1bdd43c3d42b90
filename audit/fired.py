"""How often configuration rows decided something lately, and when they last did (R58)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from convengine.sessions.sql import dialect

#: Counting ends here: beyond it the number says nothing more, and each entry that is counted has to be read.
MOST = 1000
_SQL = """SELECT wanted.one, wanted.other,
    (SELECT count(*) FROM (SELECT 1 FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other
        AND created_at >= %s LIMIT %s) AS found),
    (SELECT max(created_at) FROM ce_turn_row WHERE table_name = wanted.one AND row_pk = wanted.other)
    FROM wanted"""


class Fired(NamedTuple):
    """What one row has done."""

    #: How many it decided since the moment that was asked for; MOST stands for that many and more.
    turns: int
    #: When it last decided one; null for never.
    last: datetime | None


def fired(rows: Sequence[tuple[str, str]], since: datetime) -> dict[tuple[str, str], Fired]:
    """For rows by (table, primary key as text): how often each decided a turn since then; one query for all."""
    if not rows:
        return {}
    here = dialect()
    values = ", ".join(["(%s, %s)"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH wanted(one, other) AS (VALUES {values}) {_SQL}",
            [*(part for row in rows for part in row), here.time(since), MOST],
        )
        found = cursor.fetchall()
    return {
        (table, pk): Fired(count, here.read_time(last) if last is not None else None)
        for table, pk, count, last in found
    }
