"""The job that counts turns for the reports."""

from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction

from audit.models import CeCountProgress, CeTurnCount, CeTurnDayCount
from audit.reports.counting import SETTLED_AFTER, count_new_turns, lock_progress
from audit.reports.document_counting import count_new_documents
from convengine.engine.turn.job import Counts, Every, Job

_PASSES = (
    *(CeCountProgress.TURNS, CeCountProgress.FEEDBACK),
    *(CeCountProgress.DOCUMENTS, CeCountProgress.ANSWERS),
)


def count_everything(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count new turns and ratings; then what only their documents tell, which takes longer."""
    yield from count_new_turns(settled_after)
    yield from count_new_documents(settled_after)


def count_again() -> Iterator[Counts]:
    """Forget all counts, and count the turns that are still stored."""
    with transaction.atomic():
        for number in _PASSES:
            lock_progress(number)
        CeTurnCount.objects.all().delete()
        CeTurnDayCount.objects.all().delete()
        CeCountProgress.objects.update(counted=0)
    yield from count_everything(timedelta())


JOB = Job(
    "count_turns",
    "Count turns for the reports",
    "Counts new turns by hour and day, outcome, intent, state, stage, deciding row, form, time, model and rating.",
    Every(60),
    count_everything,
)
