"""Write counts of turns into their table, by day and by hour, in one statement.

They are collected in a temporary table first, so that the database adds them up and changes each count once.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import connection
from django.utils import timezone

from audit.models import CeTurnCount
from audit.record.days import find_day, floor_hour
from audit.record.outcomes import FormOutcome

#: The kinds that are counted by hour, too; all others, which have very many values, by day only.
BY_HOUR = frozenset(
    {
        *(CeTurnCount.TURN, CeTurnCount.STATE, CeTurnCount.ERROR, CeTurnCount.STAGE, CeTurnCount.TIME),
        *(CeTurnCount.BEGUN, CeTurnCount.OUTCOME, CeTurnCount.FEEDBACK, CeTurnCount.TASK_FAILED),
        *(CeTurnCount.MODEL_CALLS, CeTurnCount.MODEL_FAILED, CeTurnCount.MODEL_ERROR),
        *(f"{CeTurnCount.FORM_OUTCOME}{outcome}" for outcome in FormOutcome),
    }
)
_TABLE = CeTurnCount._meta.db_table
#: Temporary tables: counts by hour, with several rows of a key; and the hours with their days.
NEW_COUNTS, _TIMES = "ce_new_count", "ce_count_time"
#: In the order of the index, so that two writers cannot wait for each other.
_VALUES = "c.value, c.intent_code, c.config_version, c.channel, c.workspace_id"
_KEY = f"kind, is_hour, hour, {_VALUES.replace('c.', '')}"
_TIME_TYPE = {"postgresql": "timestamptz", "sqlite": "datetime"}
_CREATE = (
    f"""CREATE TEMPORARY TABLE {NEW_COUNTS} (hour {{time}}, workspace_id text, channel text, config_version bigint,
        intent_code text, kind text, value text, turns bigint, amount decimal)""",
    f"CREATE TEMPORARY TABLE {_TIMES} (hour {{time}}, start {{time}}, is_hour boolean)",
)


class CountChange(StrEnum):
    """What new counts do with one that is there."""

    ADD = "{0} = t.{0} + EXCLUDED.{0}"
    #: Of turns that are counted again: those that are no longer stored stay counted.
    KEEP_HIGHER = "{0} = CASE WHEN EXCLUDED.{0} > t.{0} THEN EXCLUDED.{0} ELSE t.{0} END"


def quote_texts(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)


def find_oldest_hour() -> datetime:
    return floor_hour(timezone.now() - timedelta(days=CeTurnCount.HOURS_KEPT))


@contextmanager
def collect_counts(change: CountChange) -> Iterator[Any]:
    """A cursor that writes counts into NEW_COUNTS; at the end, they are stored. Needs an open transaction."""
    with connection.cursor() as cursor:
        for statement in _CREATE:
            cursor.execute(statement.format(time=_TIME_TYPE[connection.vendor]))
        yield cursor
        cursor.execute(f"SELECT DISTINCT hour FROM {NEW_COUNTS}")
        insert_rows(cursor, _TIMES, list(_list_times([_read_hour(hour) for (hour,) in cursor.fetchall()])))
        cursor.execute(
            f"""INSERT INTO {_TABLE} AS t ({_KEY}, turns, amount)
                SELECT c.kind, s.is_hour, s.start, {_VALUES}, sum(c.turns), sum(c.amount)
                  FROM {NEW_COUNTS} c JOIN {_TIMES} s ON s.hour = c.hour
                 WHERE NOT s.is_hour OR c.kind IN ({quote_texts(sorted(BY_HOUR))})
                 GROUP BY c.kind, s.is_hour, s.start, {_VALUES} ORDER BY c.kind, s.is_hour, s.start, {_VALUES}
                    ON CONFLICT ({_KEY}) DO UPDATE SET {change.format("turns")}, {change.format("amount")}"""
        )
        cursor.execute(f"DROP TABLE {NEW_COUNTS}")
        cursor.execute(f"DROP TABLE {_TIMES}")


def insert_rows(cursor: Any, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows, which begin with a time, into a temporary table."""
    if not rows:
        return
    if connection.vendor == "postgresql":
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        placeholders = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO {table} VALUES ({placeholders})", [_adapt_times(row) for row in rows])


def _adapt_times(row: tuple[Any, ...]) -> list[Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in row]


def _list_times(hours: Iterable[datetime]) -> Iterator[tuple[datetime, datetime, bool]]:
    """Each hour with its day, and with itself if it is kept."""
    zone, oldest = timezone.get_current_timezone(), find_oldest_hour()
    for hour in hours:
        yield hour, find_day(hour, zone), False
        if hour >= oldest:
            yield hour, hour, True


def _read_hour(hour: datetime | str) -> datetime:
    """An hour as a cursor gives it: a time, or with SQLite a text."""
    return datetime.fromisoformat(hour).replace(tzinfo=UTC) if isinstance(hour, str) else hour.astimezone(UTC)
