"""Count turns again without losing those that were erased or removed: of each count, the higher number stays.

The counts are put aside, turns are counted up to where they were counted before, and both are merged. The turns may be
counted in parts, by several processes. A process that ends in between leaves all of this in tables, and the next run of
the job goes on.
"""

import itertools
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit.models import CeCountProgress, CeKeptCount, CeTurnCount, CeTurnDayCount
from audit.reports.count_batch import BY_HOUR, COLUMNS, DAYS, HOURS, IS_BY_HOUR, KEY, read_hour, sum_up_counts
from audit.reports.counting import find_newest, list_parts, lock_progress
from audit.reports.days import find_day
from audit.reports.progress import is_recounting

_PASSES = (CeCountProgress.TURNS, CeCountProgress.FEEDBACK)
_KEPT = CeKeptCount._meta.db_table


def begin_recount(number_of_parts: int = 1) -> None:
    """Put the counts aside, and begin at the first record; of a recount that has not ended, only begin again."""
    with transaction.atomic():
        turns, ratings = passes = [lock_progress(number) for number in _PASSES]
        # No process counts a part meanwhile.
        list(list_parts().select_for_update())
        list_parts().delete()
        if all(each.recount_until is None for each in passes):
            with connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {HOURS}")
                cursor.execute(
                    f"INSERT INTO {_KEPT} ({KEY}, turns, amount) SELECT {KEY}, turns, amount FROM {DAYS}"
                    f" WHERE NOT {IS_BY_HOUR}"
                )
            # Before the first count, these are all turns.
            turns.counted = turns.counted or find_newest(CeCountProgress.TURNS)
            for each in passes:
                each.recount_until = each.counted
        CeTurnCount.objects.all().delete()
        CeTurnDayCount.objects.all().delete()
        ratings.counted = 0
        for each in passes:
            each.save(update_fields=["counted", "recount_until"])
        bounds = [turns.counted * index // number_of_parts for index in range(number_of_parts + 1)]
        CeCountProgress.objects.bulk_create(
            CeCountProgress(pk=CeCountProgress.FIRST_PART + index, counted=first, recount_until=last)
            for index, (first, last) in enumerate(itertools.pairwise(bounds))
        )


def end_recount() -> bool:
    """Merge what was put aside once all is counted again; false if nothing was put aside, or not all is counted."""
    if not is_recounting():
        return False
    with transaction.atomic():
        rows = [*(lock_progress(number) for number in _PASSES), *list_parts().select_for_update()]
        if any(each.recount_until is None or each.counted < each.recount_until for each in rows):
            return False
        with connection.cursor() as cursor:
            _merge(cursor)
        list_parts().delete()
        CeCountProgress.objects.update(recount_until=None)
    return True


def _merge(cursor: Any) -> None:
    zone = timezone.get_current_timezone()
    # Days of another time zone cannot be added up to those of this one.
    days = CeKeptCount.objects.exclude(kind__in=BY_HOUR)
    wrong = [day for day in days.order_by().values_list("hour", flat=True).distinct() if find_day(day, zone) != day]
    days.filter(hour__in=wrong).delete()
    same = " AND ".join(f"c.{name} = k.{name}" for name in COLUMNS)
    for table, condition in ((HOURS, ""), (DAYS, "NOT")):
        cursor.execute(
            f"""DELETE FROM {_KEPT} AS k WHERE {condition} k.{IS_BY_HOUR} AND EXISTS (
                SELECT 1 FROM {table} c WHERE {same} AND c.turns >= k.turns AND c.amount >= k.amount)"""
        )
    # What is left was higher, mostly because turns are no longer stored. Days with it are added up again.
    hours = {read_hour(hour) for hour in CeKeptCount.objects.order_by().values_list("hour", flat=True).distinct()}
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
    days_again = {find_day(hour, zone) for hour in hours}
    CeTurnDayCount.objects.filter(kind__in=BY_HOUR, hour__in=days_again).delete()
    sum_up_counts(cursor, HOURS, DAYS, find_day, IS_BY_HOUR, days_again)
