"""Bounds of days and moments that an author writes."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound, read_moment_bound


@pytest.mark.parametrize("bound", ["today+9000y", "today-3000y", "today+99999m"])
def test_a_bound_that_no_calendar_has_is_no_bound(bound: str) -> None:
    assert read_date_bound(bound, date(2026, 11, 27)) is None
    assert read_moment_bound(bound, datetime(2026, 11, 27, 10), is_last=True) is None


def test_a_bound_counts_from_today() -> None:
    assert read_date_bound("today+90d", date(2026, 11, 27)) == date(2027, 2, 25)


@pytest.mark.parametrize(
    ("zone", "bound", "moment"),
    [
        ("America/New_York", "2026-12-01T00:00:00Z", datetime(2026, 11, 30, 19)),
        ("Asia/Tokyo", "2026-12-01T00:00:00+02:00", datetime(2026, 12, 1, 7)),
        ("Asia/Tokyo", "2026-12-01T00:00:00", datetime(2026, 12, 1)),
        ("Asia/Tokyo", "9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59)),
        ("America/New_York", "0001-01-01T00:00:00Z", datetime(1, 1, 1)),
        ("America/New_York", "now+1h", datetime(2026, 11, 27, 6)),
        ("America/New_York", "today", datetime(2026, 11, 27)),
    ],
)
def test_a_bound_with_a_time_zone_is_moved_to_that_of_the_users(zone: str, bound: str, moment: datetime) -> None:
    now = datetime(2026, 11, 27, 10, tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(hour=5)

    assert read_moment_bound(bound, now, is_last=False) == moment
