"""When jobs are due."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.turn.job import Every, Nightly

NOON = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def test_a_job_with_a_pause_is_due_at_once_and_then_a_pause_after_it_began() -> None:
    every = Every(90)

    assert every.first(NOON, UTC) == NOON
    assert every.after(NOON, UTC) == datetime(2026, 3, 28, 12, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "description"),
    [(30, "every 30 seconds"), (60, "every minute"), (900, "every 15 minutes"), (3600, "every hour")],
)
def test_a_pause_is_told_in_the_largest_unit_that_fits(seconds: int, description: str) -> None:
    assert Every(seconds).describe() == description


def test_a_nightly_job_waits_for_the_coming_night_of_the_zone() -> None:
    assert Nightly(3).first(NOON, UTC) == datetime(2026, 3, 29, 3, 0, tzinfo=UTC)
    assert Nightly(14).after(NOON, BERLIN) == datetime(2026, 3, 28, 13, 0, tzinfo=UTC)
    assert Nightly(3).describe() == "every night at 03:00"


def test_the_hour_of_a_nightly_job_stays_when_clocks_are_changed() -> None:
    before = datetime(2026, 3, 28, 3, 0, tzinfo=BERLIN)

    assert Nightly(4).after(before.replace(hour=4), BERLIN).astimezone(BERLIN) == datetime(
        2026, 3, 29, 4, tzinfo=BERLIN
    )


def test_a_nightly_job_that_runs_at_its_hour_is_due_the_next_night() -> None:
    at = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)

    assert Nightly(3).after(at, UTC) == datetime(2026, 3, 11, 3, 0, tzinfo=UTC)
