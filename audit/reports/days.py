"""Hours and days of reports: days are those of a time zone, and begin at a full hour."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_HOUR = timedelta(hours=1)
_ALMOST_AN_HOUR = timedelta(minutes=59)


def floor_hour(moment: datetime) -> datetime:
    """The hour that contains a moment."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def find_day(hour: datetime, zone: tzinfo) -> datetime:
    """The first hour of the day of an hour. An hour with midnight in it, as in a zone of half hours, begins a day."""
    return floor_hour(datetime.combine(_local_date(hour, zone), time(), zone))


def find_next_day(hour: datetime, zone: tzinfo) -> datetime:
    """The first hour of the next day: days of the calendar, also when clocks change."""
    return floor_hour(datetime.combine(_local_date(hour, zone) + timedelta(days=1), time(), zone))


def list_starts(since: datetime, until: datetime, zone: tzinfo, *, by_hour: bool) -> list[datetime]:
    """The beginnings of all hours or days of a period."""
    starts = [since]
    while (start := starts[-1] + _HOUR if by_hour else find_next_day(starts[-1], zone)) < until:
        starts.append(start)
    return starts


def _local_date(hour: datetime, zone: tzinfo) -> date:
    return (hour + _ALMOST_AN_HOUR).astimezone(zone).date()
