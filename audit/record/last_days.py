"""The last days, as every page counts them: days of the deployment's zone, and today is one of them."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

WEEK = timedelta(days=7)


def floor_hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def choose_days(days: int, now: datetime) -> tuple[datetime, datetime]:
    """The time from the midnight that begins the first of these days to the end of this hour, in whole hours."""
    zone = timezone.get_current_timezone()
    first = (now.astimezone(zone) - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return floor_hour(first), floor_hour(now) + timedelta(hours=1)
