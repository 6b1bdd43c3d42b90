"""The job that counts turns for the reports."""

from collections.abc import Iterator
from datetime import timedelta

from audit.models import CeCountProgress
from audit.reports.count_parts import count_parts
from audit.reports.counting import SETTLED_AFTER, count_new_turns
from audit.reports.recount import begin_recount, end_recount
from convengine.engine.turn.job import Counts, Every, Job


def count_everything(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count new turns and ratings; at the end of a recount, merge its counts with the old ones, and go on."""
    yield from count_new_turns(settled_after)
    if end_recount():
        yield from count_everything(settled_after)


def count_again(processes: int = 1) -> Iterator[Counts]:
    """Count the turns that are still stored once more. Those that are not stay counted as they were."""
    has_counts = CeCountProgress.objects.filter(counted__gt=0).exists()
    begin_recount(processes)
    if processes > 1:
        for records in count_parts(processes):
            yield {"records": records}
    # The job counts newer turns: one with a lower number may not be stored yet, and would never be counted.
    yield from count_everything(SETTLED_AFTER if has_counts else timedelta())


JOB = Job(
    "count_turns",
    "Count turns for the reports",
    "Counts new turns by hour and day, outcome, intent, state, stage, deciding row, form, time, model and rating.",
    Every(60),
    count_everything,
)
