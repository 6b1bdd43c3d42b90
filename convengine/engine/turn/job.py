"""Background jobs as values: what each does, and when it is due."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Protocol

from convengine.engine.turn.live_settings import Setting

#: What one batch did, by name: {"closed": 200}.
Counts = Mapping[str, int]


class Schedule(Protocol):
    """When a job is due."""

    def first(self, now: datetime, zone: tzinfo) -> datetime:
        """The due time of a job that never ran."""

    def after(self, now: datetime, zone: tzinfo) -> datetime:
        """The next due time of a job that starts now."""

    def describe(self) -> str:
        """The schedule in words."""

    @property
    def late_seconds(self) -> float:
        """How long a job may be due before it is late."""


@dataclass(frozen=True)
class Every:
    """Repeatedly, this many seconds after the last start."""

    seconds: int

    def first(self, now: datetime, zone: tzinfo) -> datetime:
        return now

    def after(self, now: datetime, zone: tzinfo) -> datetime:
        return now + timedelta(seconds=self.seconds)

    @property
    def late_seconds(self) -> float:
        """Two of its intervals, but no less than two minutes."""
        return max(2.0 * self.seconds, 120.0)

    def describe(self) -> str:
        """Such as `every 15 minutes`."""
        for length, word in ((3600, "hour"), (60, "minute"), (1, "second")):
            if self.seconds % length == 0:
                count = self.seconds // length
                return f"every {word}" if count == 1 else f"every {count} {word}s"
        raise AssertionError("every whole number of seconds is a number of seconds")


@dataclass(frozen=True)
class Nightly:
    """Once a day, at this hour of the deployment's time zone."""

    hour: int

    def first(self, now: datetime, zone: tzinfo) -> datetime:
        """The next night, because the middle of the day is no time for it."""
        return self.after(now, zone)

    def after(self, now: datetime, zone: tzinfo) -> datetime:
        """The next time that the clock shows the hour."""
        local_time = now.astimezone(zone)
        night = local_time.replace(hour=self.hour, minute=0, second=0, microsecond=0)
        # Calendar days, not 24 hours: the hour stays when clocks change.
        return night if night > local_time else night + timedelta(days=1)

    @property
    def late_seconds(self) -> float:
        """An hour: jobs of one night wait for each other."""
        return 3600.0

    def describe(self) -> str:
        """Such as `every night at 03:00`."""
        return f"every night at {self.hour:02d}:00"


@dataclass(frozen=True)
class Retention:
    """Data that a job removes when it is old."""

    #: Models, as `app.Model`. Rows of other tables that belong to their rows are removed with them.
    tables: Sequence[str]
    #: How long it stays: a time, a setting in days (0: no limit), or the name of a deployment setting in hours.
    period: timedelta | Setting[int] | str
    #: What is removed, if the job does not remove all rows as a whole.
    part: str = ""


@dataclass(frozen=True)
class Job:
    """Work that no user waits for.

    `work` runs limited batches and yields the counts of each after its commit. It may be stopped after any batch, or
    killed during one, and continues with the rest when it runs again: the work is listed in tables, never in the job.
    """

    name: str
    #: What it does, for people.
    title: str
    help: str
    schedule: Schedule
    work: Callable[[], Iterator[Counts]]
    #: It waits for answers from outside, so it runs in a thread of its own, and no other job waits for it.
    waits_outside: bool = False
    #: What it removes, for the page *Data kept and sent*.
    removes: Sequence[Retention] = ()
