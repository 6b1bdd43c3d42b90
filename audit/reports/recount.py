"""Count turns again without losing those that were erased or removed: of each count, the higher number stays.

The counts are put aside, turns are counted up to where they were counted before, and both are merged. A process that
ends in between leaves all of this in tables, and the next run of the job goes on.
"""

from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit.models import CeCountProgress, CeKeptCount, CeTurnCount, CeTurnDayCount, CeTurnMonthCount
from audit.reports.count_batch import BY_HOUR, DAYS, HOURS, IS_BY_HOUR, KEY, MONTHS, sum_up_counts
from audit.reports.counting import lock_progress
from audit.reports.days import find_day, find_month
from audit.reports.progress import is_recounting

_PASSES = (CeCountProgress.TURNS, CeCountProgress.FEEDBACK)
_KEPT = CeKeptCount._meta.db_table


def begin_recount() -> None:
    """Put the counts aside, and begin at the first record; of a recount that has not ended, only begin again."""
    with transaction.atomic():
        passes = [lock_progress(number) for number in _PASSES]
        if all(each.recount_until is None for each in passes):
            with connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {HOURS}")
                cursor.execute(
                    f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {DAYS}"
                    f" WHERE NOT {IS_BY_HOUR}"
                )
            for each in passes:
                each.recount_until = each.counted
        CeTurnCount.objects.all().delete()
        CeTurnDayCount.objects.all().delete()
        CeTurnMonthCount.objects.all().delete()
        for each in passes:
            each.counted = 0
            each.save(update_fields=["counted", "recount_until"])


def end_recount() -> bool:
    """Merge what was put aside once all is counted again; false if nothing was put aside, or not all is counted."""
    if not is_recounting():
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
    days = CeKeptCount.objects.exclude(kind__in=BY_HOUR)
    wrong = [day for day in days.order_by().values_list("hour", flat=True).distinct() if find_day(day, zone) != day]
    days.filter(hour__in=wrong).delete()
    for table, condition in ((HOURS, ""), (DAYS, "NOT")):
        higher = ", ".join(
            f"{name} = CASE WHEN EXCLUDED.{name} > {table}.{name} THEN EXCLUDED.{name} ELSE {table}.{name} END"
            for name in ("turns", "amount")
        )
        cursor.execute(
            f"""INSERT INTO {table} ({KEY}, turns, amount)
                SELECT {KEY}, turns, amount FROM {_KEPT} WHERE {condition} {IS_BY_HOUR}
                ON CONFLICT ({KEY}) DO UPDATE SET {higher}"""
        )
    CeKeptCount.objects.all().delete()
    CeTurnDayCount.objects.filter(kind__in=BY_HOUR).delete()
    sum_up_counts(cursor, HOURS, DAYS, find_day, IS_BY_HOUR)
    CeTurnMonthCount.objects.all().delete()
    sum_up_counts(cursor, DAYS, MONTHS, find_month)
