"""Count turns again without losing those that were erased or removed: of each count, the higher number stays.

The counts are put aside, turns are counted up to where they were counted before, and both are merged. A process that
ends in between leaves all of this in tables, and the next run of the job goes on.
"""

from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit.models import CeCountProgress, CeKeptCount, CeTurnCount, CeTurnDayCount
from audit.reports.counting import (
    COLUMNS,
    KEY,
    MOST_HOURS,
    ONLY_BY_DAY,
    add_on_conflict_sql,
    days_sql,
    lock_progress,
    pair_with_days,
)
from audit.reports.days import find_day

_PASSES = (
    *(CeCountProgress.TURNS, CeCountProgress.FEEDBACK),
    *(CeCountProgress.DOCUMENTS, CeCountProgress.ANSWERS),
)
_HOURS, _DAYS, _KEPT = (model._meta.db_table for model in (CeTurnCount, CeTurnDayCount, CeKeptCount))
_ONLY_BY_DAY = ", ".join(f"'{kind}'" for kind in sorted(ONLY_BY_DAY))


def begin_recount() -> None:
    """Put the counts aside, and begin at the first record; of a recount that has not ended, only begin again."""
    with transaction.atomic():
        passes = [lock_progress(number) for number in _PASSES]
        if all(each.recount_until is None for each in passes):
            with connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {_HOURS}")
                cursor.execute(
                    f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {_DAYS}"
                    f" WHERE kind IN ({_ONLY_BY_DAY})"
                )
            for each in passes:
                each.recount_until = each.counted
        CeTurnCount.objects.all().delete()
        CeTurnDayCount.objects.all().delete()
        for each in passes:
            each.counted = 0
            each.save(update_fields=["counted", "recount_until"])


def end_recount() -> bool:
    """Merge what was put aside once all is counted again; false if nothing was put aside, or not all is counted."""
    if not CeCountProgress.objects.exclude(recount_until=None).exists():
        return False
    with transaction.atomic():
        passes = [lock_progress(number) for number in _PASSES]
        if any(each.recount_until is None or each.counted < each.recount_until for each in passes):
            return False
        with connection.cursor() as cursor:
            _merge(cursor)
        CeCountProgress.objects.update(recount_until=None)
    return True


def _merge(cursor: Any) -> None:
    zone = timezone.get_current_timezone()
    # Days of another time zone cannot be added up to those of this one.
    days = CeKeptCount.objects.filter(kind__in=ONLY_BY_DAY)
    wrong = [day for day in days.order_by().values_list("hour", flat=True).distinct() if find_day(day, zone) != day]
    days.filter(hour__in=wrong).delete()
    for table, condition in ((_HOURS, "NOT IN"), (_DAYS, "IN")):
        higher = ", ".join(
            f"{name} = CASE WHEN EXCLUDED.{name} > {table}.{name} THEN EXCLUDED.{name} ELSE {table}.{name} END"
            for name in ("turns", "amount")
        )
        cursor.execute(
            f"""INSERT INTO {table} ({KEY}, turns, amount)
                SELECT {KEY}, turns, amount FROM {_KEPT} WHERE kind {condition} ({_ONLY_BY_DAY})
                ON CONFLICT ({KEY}) DO UPDATE SET {higher}"""
        )
    CeKeptCount.objects.all().delete()
    _sum_days(cursor)


def _sum_days(cursor: Any) -> None:
    """The counts of days from those of hours."""
    CeTurnDayCount.objects.exclude(kind__in=ONLY_BY_DAY).delete()
    hours = list(CeTurnCount.objects.order_by("hour").values_list("hour", flat=True).distinct())
    key = ", ".join(f"c.{name}" for name in COLUMNS[1:])
    for start in range(0, len(hours), MOST_HOURS):
        pairs = pair_with_days(hours[start : start + MOST_HOURS])
        cursor.execute(
            f"""{days_sql(len(pairs))} INSERT INTO {_DAYS} ({KEY}, turns, amount)
                SELECT d.day, {key}, sum(c.turns), sum(c.amount) FROM {_HOURS} c JOIN days d ON d.hour = c.hour
                WHERE TRUE GROUP BY d.day, {key} {add_on_conflict_sql(_DAYS)}""",
            sum(pairs, ()),
        )
