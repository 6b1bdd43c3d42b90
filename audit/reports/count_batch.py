"""Add the counts of a batch to those of hours and days, in the transaction of its progress.

They are collected in a temporary table first, so that the database adds them up and changes each count once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from audit.models import CeTurnCount, CeTurnDayCount
from audit.record.form_steps import FormStep
from audit.reports.days import find_day

#: The kinds that are counted by hour, too; all others, which have very many values, by day only.
BY_HOUR = frozenset(
    {
        *(CeTurnCount.TURN, CeTurnCount.STATE, CeTurnCount.ERROR, CeTurnCount.STAGE, CeTurnCount.TIME),
        *(CeTurnCount.BEGUN, CeTurnCount.HANDED_OVER, CeTurnCount.FEEDBACK),
        *(CeTurnCount.MODEL_CALLS, CeTurnCount.MODEL_FAILED, CeTurnCount.MODEL_ERROR),
        *(
            f"{CeTurnCount.FORM}{step}"
            for step in (FormStep.STARTED, FormStep.COMPLETED, FormStep.GAVE_UP, FormStep.LEFT)
        ),
    }
)


def quote_texts(texts: Iterable[str]) -> str:
    """Constants as a list of SQL."""
    return ", ".join(f"'{text}'" for text in texts)


IS_BY_HOUR = f"kind IN ({quote_texts(sorted(BY_HOUR))})"
#: Hours or days per statement: those of SQLite may have 32,766 values, two for each.
MOST_TIMES = 10_000
HOURS, DAYS = (model._meta.db_table for model in (CeTurnCount, CeTurnDayCount))
COLUMNS = ("hour", "workspace_id", "channel", "config_version", "intent_code", "kind", "value")
KEY = ", ".join(COLUMNS)
_VALUES = ", ".join(f"c.{name}" for name in COLUMNS[1:])
#: The order of the index of counts.
_IN_ORDER = "c.kind, t.start, c.value, c.intent_code, c.config_version, c.channel, c.workspace_id"
#: A temporary table, which may have several rows of a key.
NEW_COUNTS = "ce_new_count"
_CREATE = f"""CREATE TEMPORARY TABLE {NEW_COUNTS} (hour {{time}}, workspace_id text, channel text,
    config_version bigint, intent_code text, kind text, value text, turns bigint, amount decimal)"""
_TIME = {"postgresql": "timestamptz", "sqlite": "datetime"}


class CountKey(NamedTuple):
    """What a count is about."""

    hour: datetime
    workspace_id: str
    channel: str
    config_version: int
    intent_code: str
    kind: str
    value: str


@contextmanager
def collect_counts() -> Iterator[Any]:
    """A cursor that writes counts into NEW_COUNTS; at the end, they are added. Needs an open transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_CREATE.format(time=_TIME[connection.vendor]))
        yield cursor
        sum_up_counts(cursor, NEW_COUNTS, HOURS, _keep_hour, IS_BY_HOUR)
        sum_up_counts(cursor, NEW_COUNTS, DAYS, find_day)
        cursor.execute(f"DROP TABLE {NEW_COUNTS}")


def add_counts(counts: Iterable[tuple[CountKey, int, Decimal]]) -> None:
    """Add some counts. Needs an open transaction."""
    with collect_counts() as cursor:
        adapt_time = connection.ops.adapt_datetimefield_value
        rows = [(str(adapt_time(key.hour)), *key[1:], turns, str(amount)) for key, turns, amount in counts]
        insert_counts(cursor, rows)


def insert_counts(cursor: Any, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows of a key, turns and amount into NEW_COUNTS; hours and amounts are texts."""
    if connection.vendor == "postgresql":
        with cursor.copy(f"COPY {NEW_COUNTS} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        cursor.executemany(f"INSERT INTO {NEW_COUNTS} VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)", rows)


def sum_up_counts(
    cursor: Any,
    source: str,
    target: str,
    find_start: Callable[[datetime, tzinfo], datetime],
    condition: str = "TRUE",
    starts: Collection[datetime] | None = None,
) -> None:
    """Add the counts of a table to those of longer times: of all, or of those with these beginnings."""
    cursor.execute(f"SELECT DISTINCT hour FROM {source} WHERE {condition} ORDER BY hour")
    zone, adapt_time = timezone.get_current_timezone(), connection.ops.adapt_datetimefield_value
    times = [read_hour(time) for (time,) in cursor.fetchall()]
    times = [time for time in times if starts is None or find_start(time, zone) in starts]
    cast = f"CAST(%s AS {_TIME['postgresql']})" if connection.vendor == "postgresql" else "%s"
    for index in range(0, len(times), MOST_TIMES):
        pairs = [(adapt_time(time), adapt_time(find_start(time, zone))) for time in times[index : index + MOST_TIMES]]
        # One order for all writers, so that two cannot wait for each other.
        cursor.execute(
            f"""WITH times (time, start) AS (VALUES {", ".join([f"({cast}, {cast})"] * len(pairs))})
                INSERT INTO {target} ({KEY}, turns, amount)
                SELECT t.start, {_VALUES}, sum(c.turns), sum(c.amount)
                FROM {source} c JOIN times t ON t.time = c.hour WHERE {condition}
                GROUP BY {_IN_ORDER} ORDER BY {_IN_ORDER} {add_on_conflict_sql(target)}""",
            sum(pairs, ()),
        )


def add_on_conflict_sql(table: str) -> str:
    """What an insert does with a count that is there."""
    return f"""ON CONFLICT ({KEY}) DO UPDATE
        SET turns = {table}.turns + EXCLUDED.turns, amount = {table}.amount + EXCLUDED.amount"""


def read_hour(hour: datetime | str) -> datetime:
    """An hour of a cursor."""
    return datetime.fromisoformat(hour).replace(tzinfo=UTC) if isinstance(hour, str) else hour.astimezone(UTC)


def _keep_hour(hour: datetime, _zone: tzinfo) -> datetime:
    return hour
