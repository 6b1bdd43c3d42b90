"""Retention of job runs."""

from collections.abc import Iterator
from datetime import timedelta

from convengine.engine.turn.job import Counts, Job, Nightly
from convengine.server.database.sql import database_time
from convengine.server.jobs.models import CeJobRun

KEPT = timedelta(days=14)
_ROWS = 1000


def remove_old() -> Iterator[Counts]:
    """Remove old runs in batches."""
    old = CeJobRun.objects.filter(started_at__lt=database_time() - KEPT).order_by("pk")
    while keys := list(old.values_list("pk", flat=True)[:_ROWS]):
        CeJobRun.objects.filter(pk__in=keys).delete()
        yield {"runs": len(keys)}


JOB = Job(
    "old_job_runs", "Remove old records of jobs", "Removes records of job runs after 14 days.", Nightly(4), remove_old
)
