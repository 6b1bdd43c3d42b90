"""Replays that were asked for: one at a time of each caller, run behind the calls of this process.

Whoever runs one says again and again that it is alive; a job of which nobody has heard for a while is lost.
"""

import uuid
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit.models import CeErasure, CeReplayJob
from audit.replaying.result import result_of
from convengine import conf
from convengine.errors import ConversationNotFound, ReplayBusy
from convengine.sessions.background import Background
from convengine.sessions.clock import database_time
from convengine.sessions.waiting import release_connection

log = structlog.get_logger(__name__)
Status = CeReplayJob.Status
_OPEN = (Status.PENDING, Status.RUNNING)
#: A run computes and waits for nobody: more than one at once would only slow turns down.
replays = Background(threads=1, waiting=100)
#: Jobs that this process runs or has in its queue.
_held: set[uuid.UUID] = set()


class _Gone(Exception):
    """The job was erased with its conversation, or taken for lost."""


def begin(job: CeReplayJob) -> None:
    """Keep a job and have it run. Raises ReplayBusy while another one of the same owner is under way.

    Raises ConversationNotFound for one that was erased.
    """
    bury()
    job.created_at = database_time()
    job.lease_expires_at = _lease_end(job.created_at)
    try:
        with transaction.atomic():
            job.save(force_insert=True)
            # An erasure holds the conversation: the row above was either before it, and goes with it, or is behind it.
            if CeErasure.objects.filter(conversation_id=job.conversation_id).exists():
                raise ConversationNotFound("The data of this conversation was erased; there is nothing to run again.")
    except IntegrityError:
        if not CeReplayJob.objects.filter(owner=job.owner, status__in=_OPEN).exists():
            raise
        raise ReplayBusy() from None
    _held.add(job.pk)
    if not replays.submit(partial(run, job.pk)):
        _held.discard(job.pk)
        job.delete()
        raise ReplayBusy("Too many replays wait already; come again in a while.")


def bury() -> None:
    """Note of jobs of dead processes that they are lost."""
    now = database_time()
    dead = CeReplayJob.objects.filter(status__in=_OPEN, lease_expires_at__lt=now)
    dead.update(status=Status.LOST, finished_at=now, error="The process that ran it ended; ask for it again.")


def run(key: uuid.UUID) -> None:
    """Run a job that waits, without holding a transaction. What goes wrong is in its row, never raised."""
    try:
        now = database_time()
        if not _row(key, Status.PENDING).update(
            status=Status.RUNNING, started_at=now, lease_expires_at=_lease_end(now)
        ):
            return
        job = CeReplayJob.objects.filter(pk=key).first()
        if job is not None:
            result = result_of(job, partial(_goes_on, key))
            _row(key, Status.RUNNING).update(status=Status.DONE, result=result, finished_at=database_time())
    except _Gone:
        log.info("replay given up", replay=str(key))
    except Exception as error:
        log.error("replay failed", replay=str(key), error=str(error), exc_info=error)
        release_connection()
        text = f"{type(error).__name__}: {error}"
        _row(key, Status.RUNNING).update(status=Status.FAILED, error=text, finished_at=database_time())
    finally:
        _held.discard(key)


def _goes_on(key: uuid.UUID) -> None:
    """Say that this process is alive, for everything that it holds. Raises _Gone."""
    held = CeReplayJob.objects.filter(pk__in=list(_held), status__in=_OPEN)
    held.update(lease_expires_at=_lease_end(database_time()))
    if not _row(key, Status.RUNNING).exists():
        raise _Gone
    release_connection()


def _row(key: uuid.UUID, status: CeReplayJob.Status) -> QuerySet[CeReplayJob]:
    return CeReplayJob.objects.filter(pk=key, status=status)


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=conf.get("JOB_LEASE_SECONDS"))
