"""Count turns by hour and day, incrementally and exactly once: counts and progress change in one transaction."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from audit.models import CeCountProgress, CeMcpUserFeedback, CeTurnCount, CeTurnDayCount, CeTurnIndex
from audit.record.form_steps import FORM_STAGES, Step, split_steps
from audit.record.milestones import MODEL_ERROR_STAGES
from audit.reports.days import find_day
from convengine.engine.turn.job import Counts
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversationHistory

#: Records per transaction.
BATCH = 50_000
#: Hours per transaction: statements of SQLite may have 32,766 values, two for each.
MOST_HOURS = 10_000
#: A record may be stored after one with a higher number, until the slowest commit has ended.
SETTLED_AFTER = timedelta(seconds=60)
COLUMNS = ("hour", "workspace_id", "channel", "config_version", "intent_code", "kind", "value")
KEY = ", ".join(COLUMNS)
HOUR = {
    "postgresql": "date_trunc('hour', h.created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'",
    "sqlite": "substr(h.created_at, 1, 13) || ':00:00'",
}
#: Failed and interrupted turns change no conversation.
_IS_COMMITTED = "status IN ('OK', 'BLOCKED')"
_EARLIER = f"""SELECT 1 FROM ce_conversation_history e WHERE e.conversation_id = b.conversation_id
    AND e.turn_no < b.turn_no AND e.state_code = '{HAND_OVER}' AND e.{_IS_COMMITTED}"""
#: Of a step of a form, the kind of its counts before they are split by step.
_STEPS = "STEPS"


class CountKey(NamedTuple):
    """What a count is about."""

    hour: datetime
    workspace_id: str
    channel: str
    config_version: int
    intent_code: str
    kind: str
    value: str


class _Counter(NamedTuple):
    """What is counted of each turn `b` of a batch, or of each entry `i` of its index."""

    kind: str
    value: str = "''"
    turns: str = "count(*)"
    amount: str = "0"
    condition: str = "TRUE"
    intent: str = "b.intent_code"
    rows: str = "batch b"


_INDEX = "batch b JOIN ce_turn_index i ON i.turn_id = b.turn_id"
_FAILED_CALLS = ", ".join(f"'{stage}'" for stage in MODEL_ERROR_STAGES)
_FORM_STAGES = ", ".join(f"'{stage}'" for stage in FORM_STAGES)
_IS_STAGE = f"i.kind = '{CeTurnIndex.STAGE}'"
_ENTERS = (
    f"b.{_IS_COMMITTED}"
    " AND (coalesce(b.state_before, '') <> b.state_code OR coalesce(b.intent_before, '') <> b.intent_code)"
)
_COUNTERS = (
    _Counter(f"'{CeTurnCount.TURN}'", "b.status", amount="sum(coalesce(b.duration_ms, 0))"),
    _Counter(f"'{CeTurnCount.STATE}'", "b.state_code"),
    _Counter(f"'{CeTurnCount.ENTERED}'", "b.state_code", condition=_ENTERS),
    _Counter(
        f"'{CeTurnCount.MOVED}'",
        f" || '{CeTurnCount.SEPARATOR}' || ".join(("b.intent_before", "b.state_before", "b.state_code")),
        condition=f"b.intent_before IS NOT NULL AND b.state_before IS NOT NULL AND {_ENTERS}",
    ),
    _Counter(
        f"'{CeTurnCount.EXITED}'",
        "b.state_before",
        intent="b.intent_before",
        condition=f"b.{_IS_COMMITTED} AND b.intent_before IS NOT NULL AND b.state_before IS NOT NULL"
        " AND (b.state_before <> b.state_code OR b.intent_before <> b.intent_code)",
    ),
    _Counter(f"'{CeTurnCount.ERROR}'", "b.error_code", condition="b.error_code IS NOT NULL"),
    _Counter(f"'{CeTurnCount.BEGUN}'", condition="b.turn_no = 1"),
    _Counter(
        f"'{CeTurnCount.HANDED_OVER}'",
        condition=f"b.state_code = '{HAND_OVER}' AND b.{_IS_COMMITTED} AND NOT EXISTS ({_EARLIER})",
    ),
    _Counter(
        f"'{CeTurnCount.MODEL_CALLS}'",
        turns="sum(b.model_calls)",
        amount="sum(coalesce(b.cost, 0))",
        condition="b.model_calls > 0",
    ),
    _Counter(
        f"'{CeTurnCount.MODEL_FAILED}'",
        condition="b.model_calls > 0 AND EXISTS (SELECT 1 FROM ce_turn_index i WHERE i.turn_id = b.turn_id"
        f" AND {_IS_STAGE} AND i.value IN ({_FAILED_CALLS}))",
    ),
    _Counter("i.kind", "i.value", turns="count(DISTINCT b.turn_id)", rows=_INDEX),
)
_STEP_COUNTER = _Counter(
    f"'{_STEPS}'",
    "i.role",
    rows=_INDEX,
    condition=f"{_IS_STAGE} AND i.value IN ({_FORM_STAGES}) AND i.role <> '' AND b.{_IS_COMMITTED}",
)
#: Kinds with very many values, which reports show by day at most.
ONLY_BY_DAY = frozenset({CeTurnCount.STEP, CeTurnCount.MODEL_TIME})
#: Ratings that count before the new ones, and with them: a later one of the same person replaces an earlier one.
CHANGED_RATINGS = """WITH rated AS (
        SELECT f.turn_id, f.feedback_type, f.feedback_id AS id,
               lead(f.feedback_id) OVER (PARTITION BY f.turn_id, f.author ORDER BY f.feedback_id) AS next
          FROM ce_mcp_user_feedback f
         WHERE f.feedback_id <= %(last)s AND f.turn_id IN (
               SELECT turn_id FROM ce_mcp_user_feedback WHERE feedback_id > %(first)s AND feedback_id <= %(last)s)),
    changed AS (
        SELECT turn_id, feedback_type,
               max(CASE WHEN next IS NULL THEN 1 ELSE 0 END)
             - max(CASE WHEN id <= %(first)s AND (next IS NULL OR next > %(first)s) THEN 1 ELSE 0 END) AS turns
          FROM rated GROUP BY turn_id, feedback_type)"""


def count_new_turns(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count the turns, and the ratings, that no running commit can precede any more."""
    settled = find_settled(CeCountProgress.TURNS, settled_after)
    while counted := _count_batch(settled):
        yield {"records": counted}
    settled = find_settled(CeCountProgress.FEEDBACK, settled_after)
    if counted := _count_feedback(settled):
        yield {"ratings": counted}


def find_settled(number: int, settled_after: timedelta) -> int:
    """The highest record up to which all are stored. Notes the newest one for the next look.

    While turns are counted again, it is at most the one up to which they were counted before.
    """
    with transaction.atomic():
        progress, now = lock_progress(number), database_time()
        newest = settled = _find_newest(number)
        if settled_after:
            if progress.seen_at is not None and now - progress.seen_at < settled_after:
                settled = progress.counted
            else:
                settled, progress.seen, progress.seen_at = progress.seen, newest, now
                progress.save()
        return settled if progress.recount_until is None else progress.recount_until


def _find_newest(number: int) -> int:
    turns = number in (CeCountProgress.TURNS, CeCountProgress.DOCUMENTS)
    rows: Any = CeConversationHistory._base_manager if turns else CeMcpUserFeedback.objects
    return rows.aggregate(newest=Max("pk"))["newest"] or 0


def _count_batch(settled: int) -> int:
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.TURNS)
        first, last = progress.counted, min(progress.counted + BATCH, settled)
        if last <= first:
            return 0
        with connection.cursor() as cursor:
            while len(days := _list_days(cursor, first, last)) > MOST_HOURS:
                last = (first + last) // 2
            for model, time in ((CeTurnCount, "hour"), (CeTurnDayCount, "day")):
                cursor.execute(_insert_sql(model._meta.db_table, time, len(days)), [*sum(days, ()), first, last])
            cursor.execute(_select_steps(len(days)), [*sum(days, ()), first, last])
            add_counts(_read_rows(cursor))
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def _count_feedback(settled: int) -> int:
    """Turns with a thumb, in the hour of the turn: a rating that is replaced is no longer counted."""
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.FEEDBACK)
        first, last = progress.counted, settled
        if last <= first:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(
                f"""{CHANGED_RATINGS} SELECT {HOUR[connection.vendor]}, c.workspace_id, c.channel, h.config_version,
                    h.intent_code, '{CeTurnCount.FEEDBACK}', f.feedback_type, sum(f.turns), 0
                    FROM changed f JOIN ce_conversation_history h ON h.turn_id = f.turn_id AND h.source <> 'ADDITION'
                    JOIN ce_conversation c ON c.conversation_id = h.conversation_id
                    WHERE f.turns <> 0 GROUP BY 1, 2, 3, 4, 5, 6, 7""",
                {"first": first, "last": last},
            )
            add_counts(_read_rows(cursor))
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def lock_progress(number: int) -> CeCountProgress:
    CeCountProgress.objects.get_or_create(pk=number)
    return CeCountProgress.objects.select_for_update().get(pk=number)


def _list_days(cursor: Any, first: int, last: int) -> list[tuple[Any, Any]]:
    """The hours of some records, each with the first hour of its day; at least one, for SQL."""
    cursor.execute(
        f"SELECT DISTINCT {HOUR[connection.vendor]} FROM ce_conversation_history h"
        " WHERE h.history_id > %s AND h.history_id <= %s",
        [first, last],
    )
    return pair_with_days([read_hour(hour) for (hour,) in cursor.fetchall()] or [database_time()])


def pair_with_days(hours: Iterable[datetime]) -> list[tuple[Any, Any]]:
    """Hours with the first hours of their days, as parameters of `days_sql`."""
    zone, adapt_time = timezone.get_current_timezone(), connection.ops.adapt_datetimefield_value
    return [(adapt_time(hour), adapt_time(find_day(hour, zone))) for hour in hours]


def days_sql(hours: int) -> str:
    """So many hours with their days, as `days`."""
    time = "CAST(%s AS timestamptz)" if connection.vendor == "postgresql" else "%s"
    return f"WITH days (hour, day) AS (VALUES {', '.join([f'({time}, {time})'] * hours)})"


def _batch_sql(hours: int) -> str:
    """The records of a batch as `batch`. Each is read once, whatever is counted of it."""
    hour = HOUR[connection.vendor]
    return f"""{days_sql(hours)},
        batch AS MATERIALIZED (
        SELECT d.hour, d.day, c.workspace_id, c.channel, h.config_version, h.intent_code,
               h.turn_id, h.conversation_id, h.turn_no, h.status, h.state_code, h.intent_before, h.state_before,
               h.error_code, h.duration_ms, h.model_calls, h.cost
          FROM ce_conversation_history h JOIN ce_conversation c ON c.conversation_id = h.conversation_id
          JOIN days d ON d.hour = {hour}
         WHERE h.history_id > %s AND h.history_id <= %s AND h.source <> 'ADDITION')"""


def _insert_sql(table: str, time: str, hours: int) -> str:
    counters = " UNION ALL ".join(_select_counter(counter, time) for counter in _COUNTERS)
    return f"{_batch_sql(hours)} INSERT INTO {table} ({KEY}, turns, amount) {counters} {add_on_conflict_sql(table)}"


def _select_steps(hours: int) -> str:
    return f"{_batch_sql(hours)} {_select_counter(_STEP_COUNTER, 'hour')}"


def add_on_conflict_sql(table: str) -> str:
    """What an insert does with a count that is there."""
    return f"""ON CONFLICT ({KEY}) DO UPDATE
        SET turns = {table}.turns + EXCLUDED.turns, amount = {table}.amount + EXCLUDED.amount"""


def _select_counter(counter: _Counter, time: str) -> str:
    return f"""SELECT b.{time}, b.workspace_id, b.channel, b.config_version, {counter.intent}, {counter.kind},
        {counter.value}, {counter.turns}, {counter.amount}
        FROM {counter.rows} WHERE {counter.condition} GROUP BY 1, 2, 3, 4, 5, 6, 7"""


def read_hour(hour: datetime | str) -> datetime:
    return datetime.fromisoformat(hour).replace(tzinfo=UTC) if isinstance(hour, str) else hour.astimezone(UTC)


def _read_rows(cursor: Any) -> Iterator[tuple[CountKey, int, Decimal]]:
    for hour, workspace, channel, release, intent, kind, value, turns, amount in cursor:
        key = CountKey(read_hour(hour), workspace, channel, release, intent, kind, value)
        for counted in _split_steps(key) if kind == _STEPS else [key]:
            yield counted, int(turns), Decimal(str(amount))


def _split_steps(key: CountKey) -> Iterator[CountKey]:
    for text in split_steps(key.value):
        step = Step.parse(text)
        yield key._replace(kind=f"{CeTurnCount.FORM}{step.kind}", value=f"{step.schema}:{step.field}")


def add_counts(counts: Iterable[tuple[CountKey, int, Decimal]]) -> None:
    """Add to the counts of hours and days; some kinds are counted by day only. Needs an open transaction."""
    zone = timezone.get_current_timezone()
    hours: dict[CountKey, tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    days: dict[CountKey, tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    day_of: dict[datetime, datetime] = {}
    for key, turns, amount in counts:
        if key.hour not in day_of:
            day_of[key.hour] = find_day(key.hour, zone)
        of_day = days, key._replace(hour=day_of[key.hour])
        for sums, summed in (of_day,) if key.kind in ONLY_BY_DAY else ((hours, key), of_day):
            old_turns, old_amount = sums[summed]
            sums[summed] = old_turns + turns, old_amount + amount
    _upsert(CeTurnCount._meta.db_table, hours)
    _upsert(CeTurnDayCount._meta.db_table, days)


def _upsert(table: str, sums: Mapping[CountKey, tuple[int, Decimal]]) -> None:
    # One order for all, so that two writers cannot wait for each other.
    adapt_time = connection.ops.adapt_datetimefield_value
    rows = [(adapt_time(key.hour), *key[1:], turns, amount) for key, (turns, amount) in sorted(sums.items())]
    update = add_on_conflict_sql(table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            types = ("timestamptz", "text", "text", "bigint", "text", "text", "text", "bigint", "numeric")
            arrays = ", ".join(f"%s::{name}[]" for name in types)
            if rows:
                cursor.execute(
                    f"INSERT INTO {table} ({KEY}, turns, amount) SELECT * FROM unnest({arrays}) {update}",
                    [list(column) for column in zip(*rows, strict=True)],
                )
        else:
            cursor.executemany(
                f"INSERT INTO {table} ({KEY}, turns, amount) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) {update}",
                [(*row[:-1], str(row[-1])) for row in rows],
            )
