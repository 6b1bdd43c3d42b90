"""Runs that people start: one after the other in the background of this process, with progress, cancelling and a lease.

A run is a row. Its process reports progress and renews the lease; when the process dies, the lease expires and the run
is lost. Replays, what-if runs and test runs are such runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar

import structlog
from django.db import IntegrityError, models, transaction
from django.db.models import Q, QuerySet

from convengine.engine.errors import ReplayBusy
from convengine.server.database.sql import database_time, release_connections
from convengine.server.jobs.background import Background
from convengine.server.jobs.running import get_lease_end

log = structlog.get_logger(__name__)
Row = TypeVar("Row", bound=models.Model)


class RunStatus(models.TextChoices):
    """How far a run is."""

    PENDING = "PENDING", "Waiting"
    RUNNING = "RUNNING", "Running"
    DONE = "DONE", "Done"
    CANCELLED = "CANCELLED", "Cancelled"
    FAILED = "FAILED", "Failed"
    LOST = "LOST", "Process lost"


#: A run that has not ended.
OPEN = (RunStatus.PENDING, RunStatus.RUNNING)


#: How long finding the lost runs takes at most.
_SINCE_NOW = timedelta(seconds=10)
#: How often a run is stored again when the owner's other run ended meanwhile.
_ATTEMPTS = 5


class RunEnded(Exception):
    """The run was cancelled, erased, or counted as lost."""


class BackgroundRuns(Generic[Row]):
    """The runs of one table: `status`, `error`, `created_at`, `finished_at`, `lease_expires_at`."""

    def __init__(self, model: type[Row], name: str, *, waiting: int) -> None:
        self._model = model
        self._name = name
        self._waiting = waiting
        #: One at a time, because a run computes all the time and would slow down turns.
        self.queue = Background(threads=1, waiting=waiting)
        #: Runs that this process has, running or waiting.
        self._held: set[Any] = set()

    @property
    def is_full(self) -> bool:
        """True when no further run can wait."""
        return len(self._held) >= self._waiting

    def start(self, run: Row, perform: Callable[[Any], None], check: Callable[[], None] = lambda: None) -> None:
        """Store a run and queue it for `perform`. `check` may raise in the same transaction. For tables with an owner.

        Raises ReplayBusy while another run of the same owner is open, and when too many runs are waiting.
        """
        self.mark_lost()
        row: Any = run
        row.created_at = database_time()
        row.lease_expires_at = get_lease_end(row.created_at)
        for _ in range(_ATTEMPTS):
            if self._insert(row, check):
                break
            if self.select_open().filter(owner=row.owner).exists():
                raise ReplayBusy(f"A {self._name} of yours is not finished. Try again when it is.")
            # The owner's other run ended between the two statements.
        else:
            raise ReplayBusy()
        if not self.submit(row.pk, perform):
            row.delete()
            raise ReplayBusy(f"Too many {self._name}s are waiting. Try again later.")

    def _insert(self, row: Row, check: Callable[[], None]) -> bool:
        """False when the database refuses it."""
        try:
            with transaction.atomic():
                row.save(force_insert=True)
                check()
        except IntegrityError:
            return False
        return True

    def submit(self, key: Any, perform: Callable[[Any], None]) -> bool:
        """Queue a stored run for `perform`; false when too many runs are waiting."""
        self._held.add(key)
        is_queued = self.queue.submit(partial(perform, key))
        if not is_queued:
            self._held.discard(key)
        return is_queued

    def cancel(self, key: Any) -> bool:
        """End a run; what it stored so far stays. False when it has ended already."""
        cancelled = self.select_open().filter(pk=key)
        return bool(cancelled.update(status=RunStatus.CANCELLED, finished_at=database_time()))

    def mark_lost(self) -> None:
        """Mark the runs of dead processes as lost."""
        now = database_time()
        error = f"The process of this {self._name} ended. Start it again."
        # Nobody can have renewed now a lease that ends later than a new one, unless since `now`.
        is_dead = Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=get_lease_end(now) + _SINCE_NOW)
        dead = self.select_open().filter(is_dead)
        dead.update(status=RunStatus.LOST, finished_at=now, error=error)

    @contextmanager
    def perform(self, key: Any, describe: Callable[[Exception], str]) -> Iterator[Row | None]:
        """Give the row of a waiting run, none if it is not waiting; at the end it is done.

        A failure is in the row as `describe` says it, never raised. Nothing holds a transaction meanwhile.
        """
        try:
            row = self._begin(key)
        except BaseException:
            self._held.discard(key)
            raise
        try:
            yield row
            if row is not None:
                self._finish(key, RunStatus.DONE)
        except RunEnded:
            log.info("run ended early", kind=self._name, run=str(key))
        except Exception as error:
            log.error("run failed", kind=self._name, run=str(key), error=str(error), exc_info=error)
            release_connections()
            self._finish(key, RunStatus.FAILED, error=describe(error))
        finally:
            self._held.discard(key)

    def report(self, key: Any, **values: Any) -> None:
        """Store the progress, and that this process is alive, for all its runs. Raises RunEnded."""
        lease_end = get_lease_end(database_time())
        others = [held for held in tuple(self._held) if held != key]
        self.select_open().filter(pk__in=others).update(lease_expires_at=lease_end)
        if not self._select(key, RunStatus.RUNNING).update(lease_expires_at=lease_end, **values):
            raise RunEnded

    def select_open(self) -> QuerySet[Row]:
        """The runs that have not ended."""
        return self._model._default_manager.filter(status__in=OPEN)

    def _begin(self, key: Any) -> Row | None:
        now = database_time()
        values: dict[str, Any] = {"status": RunStatus.RUNNING, "lease_expires_at": get_lease_end(now)}
        if hasattr(self._model, "started_at"):
            values["started_at"] = now
        if not self._select(key, RunStatus.PENDING).update(**values):
            return None
        return self._model._default_manager.filter(pk=key).first()

    def _finish(self, key: Any, status: RunStatus, **values: Any) -> None:
        self._select(key, RunStatus.RUNNING).update(status=status, finished_at=database_time(), **values)

    def _select(self, key: Any, status: RunStatus) -> QuerySet[Row]:
        return self._model._default_manager.filter(pk=key, status=status)
