"""Bounds of days and moments that an author writes."""

from datetime import date, datetime

import pytest

from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound, read_moment_bound


@pytest.mark.parametrize("bound", ["today+9000y", "today-3000y", "today+99999m"])
def test_a_bound_that_no_calendar_has_is_no_bound(bound: str) -> None:
    assert read_date_bound(bound, date(2026, 11, 27)) is None
    assert read_moment_bound(bound, datetime(2026, 11, 27, 10), is_last=True) is None


def test_a_bound_counts_from_today() -> None:
    assert read_date_bound("today+90d", date(2026, 11, 27)) == date(2027, 2, 25)
