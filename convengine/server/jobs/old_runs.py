"""Retention of job runs."""

from collections.abc import Iterator
from datetime import timedelta

from convengine.engine.turn.job import Counts, Job, Nightly, Retention
from convengine.server.database.sql import database_time, remove_in_batches
from convengine.server.jobs.models import CeJobRun

KEPT = timedelta(days=14)


def remove_old() -> Iterator[Counts]:
    old = CeJobRun.objects.filter(started_at__lt=database_time() - KEPT).order_by("pk")
    yield from remove_in_batches(old, "runs")


JOB = Job(
    "old_job_runs",
    "Remove old records of jobs",
    "Removes records of job runs after 14 days.",
    Nightly(4),
    remove_old,
    removes=[Retention(["ce_jobs.CeJobRun"], KEPT)],
)
