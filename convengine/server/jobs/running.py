"""Run jobs: leases, batches, and records of runs.

A process holds a job by a lease in `ce_job`, so only one worker runs it. If the process dies, the lease expires, and
the next process continues after the last committed batch. A death counts as a failure.
"""

import os
import socket
import time
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import connection, connections, transaction
from django.db.models import F, QuerySet
from django.utils.timezone import get_default_timezone

from convengine.engine.turn.enums import JobStatus
from convengine.engine.turn.job import Job
from convengine.server.database.sql import database_time, dialect
from convengine.server.deployment import conf
from convengine.server.jobs.background import Background
from convengine.server.jobs.models import CeJob, CeJobRun
from convengine.server.observability import metrics

log = structlog.get_logger(__name__)
SCHEDULE = "schedule"
#: After a failure a job is tried again after this time, doubled each time, at the latest at its scheduled time.
_RETRY = timedelta(seconds=60)
#: How often the lease of a job doubles that fails or ends its process: up to an hour.
_MOST_DOUBLINGS = 5
#: The pause between two batches: this multiple of the last batch's time, with a maximum in seconds, because turns write
#: meanwhile. On SQLite waiting turns poll the single lock ever more rarely, so it must be free most of the time.
_RESTS = {"postgresql": (1, 1.0), "sqlite": (10, 0.1)}
_SHORTEST_REST = 0.005
#: The threads of jobs that wait for answers from outside.
_outside: defaultdict[str, Background] = defaultdict(lambda: Background(threads=1))


class NoSuchJob(LookupError):
    """Unknown job; the message lists the known ones."""


class _Lost(Exception):
    """Another process took over the job."""


def all_jobs() -> dict[str, Job]:
    """The jobs of this deployment by name, in the order of the settings."""
    return {job.name: job for job in conf.load_all("JOBS")}


def create_missing_rows() -> None:
    missing = all_jobs().keys() - set(CeJob.objects.values_list("name", flat=True))
    if missing:
        now, zone = database_time(), get_default_timezone()
        rows = [CeJob(name=name, due_at=all_jobs()[name].schedule.first(now, zone)) for name in sorted(missing)]
        CeJob.objects.bulk_create(rows, ignore_conflicts=True)


def due() -> list[str]:
    create_missing_rows()
    now, known = database_time(), CeJob.objects.in_bulk(list(all_jobs()))
    return [name for name, job in all_jobs().items() if name in known and _is_due(known[name], job, now)]


def run_due() -> None:
    for name in due():
        run_or_start(name)


def run_or_start(name: str) -> None:
    """Run a due job; one that waits for answers from outside is started in a thread of its own. Raises NoSuchJob."""
    job = all_jobs().get(name)
    if job and job.waits_outside:
        _outside[name].submit(partial(run, name))
    else:
        run(name)


def run(name: str, by: str = SCHEDULE) -> CeJobRun | None:
    """Run a job to its end, and return the record of the run.

    Returns None when another process runs it, or, for the schedule, when it is no longer due. A failure is in the
    record, never raised. Raises NoSuchJob.
    """
    job = all_jobs().get(name)
    if job is None:
        raise NoSuchJob(f"The job {name} does not exist. Jobs: {', '.join(all_jobs())}.")
    create_missing_rows()
    holder = _claim(job, by)
    if holder is None:
        return None
    began, record = time.monotonic(), holder.record
    with structlog.contextvars.bound_contextvars(job=name, run=record.pk):
        try:
            worked_since = began
            for counts in job.work():
                holder.counts.update(counts)
                holder.goes_on()
                _let_go()
                times, longest = _RESTS[dialect().vendor]
                time.sleep(min(max((time.monotonic() - worked_since) * times, _SHORTEST_REST), longest))
                worked_since = time.monotonic()
            holder.ends(JobStatus.OK)
        except _Lost:
            record.refresh_from_db()
            log.warning("job taken over by another process")
        except Exception as error:
            log.error("job failed", error=str(error), exc_info=error)
            _let_go()
            holder.ends(JobStatus.FAILED, f"{type(error).__name__}: {error}")
        seconds = round(time.monotonic() - began, 3)
        metrics.JOB_SECONDS.observe(seconds, name, record.status.lower())
        tell = log.info if record.counts else log.debug
        tell("job ended", status=record.status, counts=record.counts, seconds=seconds, started_by=record.started_by)
    return record


@dataclass
class _Holder:
    job: Job
    token: uuid.UUID
    record: CeJobRun
    #: Since the last success.
    failures: int
    counts: Counter[str] = field(default_factory=Counter)

    def goes_on(self) -> None:
        """Store the counts so far and renew the lease. Raises _Lost."""
        with transaction.atomic():
            if not self._row().update(lease_expires_at=get_lease_end(database_time(), self.failures)):
                raise _Lost
            CeJobRun.objects.filter(pk=self.record.pk).update(counts=dict(self.counts))

    def ends(self, status: JobStatus, error: str = "") -> None:
        """Store the end and release the job, unless another process has it by now."""
        with transaction.atomic():
            now = database_time()
            failed = status is JobStatus.FAILED
            values = {"lease_token": None, "lease_expires_at": None, "failures": F("failures") + 1 if failed else 0}
            if not self._row().update(**values):
                return
            if failed:
                row = CeJob.objects.get(name=self.job.name)
                row.due_at = min(row.due_at, now + _RETRY * 2 ** min(row.failures - 1, 10))
                row.save(update_fields=["due_at"])
            record = self.record
            record.status, record.error, record.finished_at = status.value, error, now
            record.counts = dict(self.counts)
            record.save()

    def _row(self) -> QuerySet[CeJob]:
        return CeJob.objects.filter(name=self.job.name, lease_token=self.token)


def _claim(job: Job, by: str) -> _Holder | None:
    with transaction.atomic():
        row = CeJob.objects.select_for_update().select_related(None).get(name=job.name)
        now = database_time()
        dead = bool(row.lease_token) and is_lease_dead(row, now)
        if (row.lease_token and not dead) or (by == SCHEDULE and not _is_due(row, job, now)):
            return None
        if dead and row.last_run_id:
            interrupted_run = CeJobRun.objects.filter(pk=row.last_run_id, status=JobStatus.RUNNING.value)
            interrupted_run.update(status=JobStatus.LOST.value, finished_at=now, error="The process that ran it ended.")
        row.failures += int(dead)
        record = CeJobRun.objects.create(
            job_name=job.name, started_at=now, started_by=by, worker=f"{socket.gethostname()}:{os.getpid()}"
        )
        row.lease_token, row.lease_expires_at, row.last_run = uuid.uuid4(), get_lease_end(now, row.failures), record
        row.due_at = job.schedule.after(now, get_default_timezone())
        row.save()
    return _Holder(job, row.lease_token, record, row.failures)


def _is_due(row: CeJob, job: Job, now: datetime) -> bool:
    """True for a job that a process may begin: its time has come, or who ran it is dead.

    A time that is later than the next one was set before the clock of the database was set back.
    """
    if row.lease_token:
        return is_lease_dead(row, now)
    return row.due_at <= now or row.due_at > job.schedule.after(now, get_default_timezone())


def is_lease_dead(row: CeJob, now: datetime) -> bool:
    """True for a lease that nobody renews: it is over, or ends later than any that is renewed now."""
    ends = row.lease_expires_at
    return ends is None or not now <= ends <= get_lease_end(now, row.failures)


def get_lease_end(now: datetime, failures: int = 0) -> datetime:
    """When a lease ends that is taken or renewed now. It doubles, so that a job ends processes ever more rarely."""
    doublings = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    return now + timedelta(seconds=conf.get("JOB_LEASE_SECONDS") * 2**doublings)


def _let_go() -> None:
    """Release the connection during a pause; a broken one must not prevent storing the failure."""
    if not connection.in_atomic_block:
        connections.close_all()
