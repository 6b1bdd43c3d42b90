"""The job that counts turns for the reports: new ones, and all of them again when what is counted has changed.

They are counted again day by day, by the statement that counts new ones: of each count, the higher number stays. So the
counts of turns that were erased or removed stay, no number is too low meanwhile, and a recount that was ended early is
begun again.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Min, Q
from django.db.models.functions import TruncHour
from django.utils import timezone

from audit.models import CeCountProgress, CeTurnCount
from audit.record.days import find_day, find_next_day
from audit.reports.count_batch import CountChange, collect_counts
from audit.reports.count_outcomes import count_stored_outcomes
from audit.reports.counting import BATCH, count_new_turns, count_ratings, count_turns, lock_progress
from convengine.engine.turn.job import Counts, Every, Job, Retention
from convengine.server.sessions.models import CeConversationHistory

#: The day on which clocks are put back.
_LONGEST_DAY = timedelta(hours=25)


class Day(NamedTuple):
    """A day, and the first and the last record of its turns."""

    since: datetime
    first: int
    last: int


def count_again() -> Iterator[Counts]:
    """Count the turns that are still stored once more, then the new ones. Those that are gone stay as counted."""
    with transaction.atomic():
        counted = lock_progress(CeCountProgress.TURNS).counted
    # Before the first count, the job counts all.
    if days := list_days(counted):
        _delete_days_of_another_zone(days[0])
        for day in days[:-1]:
            count_day(day)
            yield {"records": day.last - day.first + 1}
        with transaction.atomic():
            # The job counts turns of this day, too: it waits.
            counted = lock_progress(CeCountProgress.TURNS).counted
            count_day(days[-1]._replace(last=counted))
        yield {"records": days[-1].last - days[-1].first + 1}
    with transaction.atomic():
        ratings = lock_progress(CeCountProgress.FEEDBACK).counted
        with collect_counts(CountChange.KEEP_HIGHER) as cursor:
            count_ratings(cursor, 0, ratings)
    with transaction.atomic():
        lock_progress(CeCountProgress.OUTCOMES)
        with collect_counts(CountChange.KEEP_HIGHER) as cursor:
            count_stored_outcomes(cursor)
    # The job counts newer turns: one with a lower number may not be stored yet, and would never be counted.
    yield from count_new_turns()


def list_days(counted: int) -> list[Day]:
    """The days of the stored turns up to the record `counted`, oldest first. One query."""
    turns = CeConversationHistory.objects.filter(pk__lte=counted).annotate(hour=TruncHour("created_at", tzinfo=UTC))
    zone = timezone.get_current_timezone()
    days: dict[datetime, Day] = {}
    for hour, first, last in turns.order_by("hour").values_list("hour").annotate(Min("pk"), Max("pk")):
        since = find_day(hour, zone)
        day = days.get(since, Day(since, first, last))
        days[since] = Day(since, min(day.first, first), max(day.last, last))
    return list(days.values())


def count_day(day: Day) -> None:
    """Count the turns of a day once more."""
    until = find_next_day(day.since, timezone.get_current_timezone())
    with transaction.atomic(), collect_counts(CountChange.KEEP_HIGHER) as cursor:
        for start in range(day.first - 1, day.last, BATCH):
            in_range = Q(pk__gt=start, pk__lte=min(start + BATCH, day.last))
            count_turns(cursor, in_range & Q(created_at__gte=day.since, created_at__lt=until))


def _delete_days_of_another_zone(day: Day) -> None:
    """Delete counts of days that begin at other hours, because their turns would be counted twice.

    Days that ended before the oldest turn of `day`, the first one, stay.
    """
    zone = timezone.get_current_timezone()
    turns = CeConversationHistory.objects.filter(pk__gte=day.first, pk__lte=day.last)
    oldest = turns.aggregate(oldest=Min("created_at"))["oldest"]
    days = CeTurnCount.objects.filter(is_hour=False, hour__gt=oldest - _LONGEST_DAY)
    starts = days.order_by().values_list("hour", flat=True).distinct()
    days.filter(hour__in=[start for start in starts if find_day(start, zone) != start]).delete()


#: Raised when a kind of counts is new, or its meaning another: then all stored turns are counted again.
DEFINITION = 2


def update_counts() -> Iterator[Counts]:
    """Count new turns; after an upgrade that counts something else, count all stored turns again."""
    progress, _ = CeCountProgress.objects.get_or_create(pk=CeCountProgress.TURNS)
    if progress.definition != DEFINITION:
        yield from count_again()
        CeCountProgress.objects.filter(pk=progress.pk).update(definition=DEFINITION)
    else:
        yield from count_new_turns()


def count_stored_turns() -> None:
    """Count every stored turn now, without waiting for those that may be being stored."""
    for _ in (*update_counts(), *count_new_turns(timedelta())):
        pass


JOB = Job(
    "count_turns",
    "Count turns for the reports",
    "Counts new turns by hour and day, intent, state, stage, row, form, time, model and rating, and what became of "
    "conversations.",
    Every(60),
    update_counts,
    removes=[Retention(["audit.CeTurnCount"], timedelta(days=CeTurnCount.HOURS_KEPT), "by hour")],
)
