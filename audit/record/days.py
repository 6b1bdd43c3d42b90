"""Hours, days and months as pages count them: days of a zone, which begin at a full hour, and the last days to now."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.utils import timezone

WEEK = timedelta(days=7)


def floor_hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def choose_days(days: int, now: datetime) -> tuple[datetime, datetime]:
    """The time from the midnight that begins the first of these days to the end of this hour, in whole hours."""
    zone = timezone.get_current_timezone()
    first = (now.astimezone(zone) - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return floor_hour(first), floor_hour(now) + timedelta(hours=1)


_HOUR = timedelta(hours=1)
_ALMOST_AN_HOUR = timedelta(minutes=59)


def find_day(hour: datetime, zone: tzinfo) -> datetime:
    """The first hour of the day of an hour. An hour with midnight in it, as in a zone of half hours, begins a day."""
    return floor_hour(datetime.combine(_local_date(hour, zone), time(), zone))


def find_next_day(hour: datetime, zone: tzinfo) -> datetime:
    """The first hour of the next day: days of the calendar, also when clocks change."""
    return floor_hour(datetime.combine(_local_date(hour, zone) + timedelta(days=1), time(), zone))


def find_month(hour: datetime, zone: tzinfo) -> datetime:
    return floor_hour(datetime.combine(_local_date(hour, zone).replace(day=1), time(), zone))


def find_next_month(hour: datetime, zone: tzinfo) -> datetime:
    return find_month(find_month(hour, zone) + timedelta(days=32), zone)


def find_next_hour(hour: datetime, zone: tzinfo) -> datetime:
    return hour + _HOUR


def list_starts(
    since: datetime, until: datetime, zone: tzinfo, find_next: Callable[[datetime, tzinfo], datetime]
) -> list[datetime]:
    starts = [since]
    while (start := find_next(starts[-1], zone)) < until:
        starts.append(start)
    return starts


def _local_date(hour: datetime, zone: tzinfo) -> date:
    return (hour + _ALMOST_AN_HOUR).astimezone(zone).date()
