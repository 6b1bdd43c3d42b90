"""The job that counts turns for the reports."""

from collections.abc import Iterator
from datetime import timedelta

from audit.models import CeCountProgress
from audit.reports.counting import count_new_turns
from audit.reports.recount import count_again
from convengine.engine.turn.job import Counts, Every, Job

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
)
