"""Replays through the API: one per caller at a time, in the background of this process.

The process of a replay reports periodically that it is alive; a silent job is lost.
"""

import uuid
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit.models import CeErasure, CeReplayJob
from audit.replay.job_result import run_job_turns
from convengine.engine.errors import ConversationNotFound, ReplayBusy
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.jobs.background import Background
from convengine.server.turns.waiting import release_connection

log = structlog.get_logger(__name__)
Status = CeReplayJob.Status
_OPEN = (Status.PENDING, Status.RUNNING)
#: One at a time, because a replay computes all the time and would slow down turns.
replays = Background(threads=1, waiting=100)
#: Jobs that this process runs or has in its queue.
_held: set[uuid.UUID] = set()


class _JobGone(Exception):
    """The job was erased with its conversation, or counted as lost."""


def start_job(job: CeReplayJob) -> None:
    """Store a job and start it. Raises ReplayBusy while another one of the same owner runs.

    Raises ConversationNotFound for an erased conversation.
    """
    mark_lost_jobs()
    job.created_at = database_time()
    job.lease_expires_at = _lease_end(job.created_at)
    try:
        with transaction.atomic():
            job.save(force_insert=True)
            # An erasure locks the conversation: the row above was either before it and is removed with it, or comes
            # after it.
            if CeErasure.objects.filter(conversation_id=job.conversation_id).exists():
                raise ConversationNotFound("The data of this conversation was erased, so it cannot be replayed.")
    except IntegrityError:
        if not CeReplayJob.objects.filter(owner=job.owner, status__in=_OPEN).exists():
            raise
        raise ReplayBusy() from None
    _held.add(job.pk)
    if not replays.submit(partial(run_job, job.pk)):
        _held.discard(job.pk)
        job.delete()
        raise ReplayBusy("Too many replays are waiting. Try again later.")


def mark_lost_jobs() -> None:
    """Mark jobs of dead processes as lost."""
    now = database_time()
    dead = CeReplayJob.objects.filter(status__in=_OPEN, lease_expires_at__lt=now)
    dead.update(status=Status.LOST, finished_at=now, error="The process of this replay ended. Start it again.")


def run_job(key: uuid.UUID) -> None:
    """Run a waiting job, without holding a transaction. A failure is in its row, never raised."""
    try:
        now = database_time()
        if not _select_job(key, Status.PENDING).update(
            status=Status.RUNNING, started_at=now, lease_expires_at=_lease_end(now)
        ):
            return
        job = CeReplayJob.objects.filter(pk=key).first()
        if job is not None:
            result = run_job_turns(job, partial(_renew_leases, key))
            _select_job(key, Status.RUNNING).update(status=Status.DONE, result=result, finished_at=database_time())
    except _JobGone:
        log.info("replay given up", replay=str(key))
    except Exception as error:
        log.error("replay failed", replay=str(key), error=str(error), exc_info=error)
        release_connection()
        text = f"{type(error).__name__}: {error}"
        _select_job(key, Status.RUNNING).update(status=Status.FAILED, error=text, finished_at=database_time())
    finally:
        _held.discard(key)


def _renew_leases(key: uuid.UUID) -> None:
    """Report that this process is alive, for all its jobs. Raises _Gone."""
    held = CeReplayJob.objects.filter(pk__in=list(_held), status__in=_OPEN)
    held.update(lease_expires_at=_lease_end(database_time()))
    if not _select_job(key, Status.RUNNING).exists():
        raise _JobGone
    release_connection()


def _select_job(key: uuid.UUID, status: CeReplayJob.Status) -> QuerySet[CeReplayJob]:
    return CeReplayJob.objects.filter(pk=key, status=status)


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=conf.get("JOB_LEASE_SECONDS"))
