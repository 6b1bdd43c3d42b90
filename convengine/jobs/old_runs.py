"""Records of job runs are kept for a while."""

from collections.abc import Iterator
from datetime import timedelta

from convengine.domain.job import Counts, Job, Nightly
from convengine.jobs.models import CeJobRun
from convengine.sessions.clock import database_time

KEPT = timedelta(days=14)
_ROWS = 1000


def remove_old() -> Iterator[Counts]:
    """The older ones go, some at a time."""
    old = CeJobRun.objects.filter(started_at__lt=database_time() - KEPT).order_by("pk")
    while keys := list(old.values_list("pk", flat=True)[:_ROWS]):
        CeJobRun.objects.filter(pk__in=keys).delete()
        yield {"runs": len(keys)}


JOB = Job("old_job_runs", "Remove old records of jobs", "Records of runs are kept for 14 days.", Nightly(4), remove_old)
