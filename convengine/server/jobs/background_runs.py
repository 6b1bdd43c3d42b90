"""Runs that people start: one after the other in the background of this process, with progress, cancelling and a lease.

A run is a row. Its process reports progress and renews the lease; when the process dies, the lease expires and the run
is lost. Replays, what-if runs, test runs and evaluations are such runs: each says how it is performed.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
T = TypeVar("T")


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
#: Seconds between two reports of the progress.
REPORT_SECONDS = 1.0
#: How long the interpreter is given away after each result, in seconds: turns of other threads come first.
PAUSE_SECONDS = 0.0005
#: How long finding the lost runs takes at most.
_SINCE_NOW = timedelta(seconds=10)
#: How often a run is stored again when the owner's other run ended meanwhile.
_ATTEMPTS = 5


class BackgroundRun(models.Model):
    """A run: `status`, `error`, `created_at`, `finished_at`, `lease_expires_at`, as each table explains them."""

    status: Any

    class Meta:
        abstract = True

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


Row = TypeVar("Row", bound=BackgroundRun)


class RunEnded(Exception):
    """The run was cancelled, erased, or counted as lost."""


@dataclass(eq=False)
class BackgroundRuns(Generic[Row]):
    """The runs of one table, and how one is performed."""

    model: type[Row]
    name: str
    #: Performs a run, and reports its progress.
    work: Callable[[Row], None]
    #: Says in the row why a run failed.
    describe: Callable[[Exception, Any], str]
    #: How many run and wait in this process.
    most: int
    #: Follows every run, however it ended.
    clean_up: Callable[[Any], None] = lambda key: None
    #: Runs that this process has, running or waiting.
    _held: set[Any] = field(default_factory=set)

    def __post_init__(self) -> None:
        #: One at a time, because a run computes all the time and would slow down turns.
        self.queue = Background(threads=1, waiting=self.most)
        self._refusal = f"Too many {self.name}s are waiting. Try again later."

    def start(self, run: Row, check: Callable[[], None] = lambda: None) -> None:
        """Store a run, and queue it when the transaction is committed. `check` may raise in the same transaction.

        Raises ReplayBusy while another run of the same owner is open, and when too many runs are waiting.
        """
        self.mark_lost()
        with transaction.atomic():
            self.create(run, check)
            if len(self._held) >= self.most:
                raise ReplayBusy(self._refusal)
        transaction.on_commit(partial(self._submit, run.pk))

    def create(self, run: Row, check: Callable[[], None] = lambda: None) -> None:
        """Store a run that is not queued. Raises ReplayBusy while another run of the same owner is open."""
        row: Any = run
        row.created_at = database_time()
        row.lease_expires_at = get_lease_end(row.created_at)
        for _ in range(_ATTEMPTS):
            try:
                with transaction.atomic():
                    row.save(force_insert=True)
                    check()
                return
            except IntegrityError:
                if not hasattr(run, "owner"):
                    raise
                if self.select_open().filter(owner=row.owner).exists():
                    raise ReplayBusy(f"A {self.name} of yours is not finished. Try again when it is.") from None
        raise ReplayBusy()

    def _submit(self, key: Any) -> None:
        self._held.add(key)
        if not self.queue.submit(partial(self.run, key)):
            self._held.discard(key)
            self._end(key, RunStatus.PENDING, RunStatus.FAILED, error=self._refusal)
            self.clean_up(key)

    def cancel(self, key: Any) -> bool:
        """End a run; what it stored so far stays. False when it has ended already."""
        return bool(self.select_open().filter(pk=key).update(status=RunStatus.CANCELLED, finished_at=database_time()))

    def mark_lost(self) -> None:
        """Mark the runs of dead processes as lost."""
        now = database_time()
        error = f"The process of this {self.name} ended. Start it again."
        # Nobody can have renewed now a lease that ends later than a new one, unless since `now`.
        is_dead = Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=get_lease_end(now) + _SINCE_NOW)
        self.select_open().filter(is_dead).update(status=RunStatus.LOST, finished_at=now, error=error)

    def run(self, key: Any) -> None:
        """Perform a waiting run to its end. A failure is in its row, never raised."""
        with self.perform(key) as row:
            if row is not None:
                self.work(row)

    @contextmanager
    def perform(self, key: Any) -> Iterator[Row | None]:
        """Give the row of a waiting run, none if it is not waiting; at the end it is done.

        A failure is in the row, never raised. Nothing holds a transaction meanwhile.
        """
        try:
            now = database_time()
            started = {"started_at": now} if hasattr(self.model, "started_at") else {}
            values = {"status": RunStatus.RUNNING, "lease_expires_at": get_lease_end(now), **started}
            is_waiting = self.model._default_manager.filter(pk=key, status=RunStatus.PENDING).update(**values)
            row = self.model._default_manager.filter(pk=key).first() if is_waiting else None
            try:
                yield row
                if row is not None:
                    self._end(key, RunStatus.RUNNING, RunStatus.DONE)
            except RunEnded:
                log.info("run ended early", kind=self.name, run=str(key))
            except Exception as error:
                log.error("run failed", kind=self.name, run=str(key), error=str(error), exc_info=error)
                release_connections()
                self._end(key, RunStatus.RUNNING, RunStatus.FAILED, error=self.describe(error, key))
        finally:
            self._held.discard(key)
            self.clean_up(key)

    def report(self, key: Any, **values: Any) -> None:
        """Store the progress, and that this process is alive, for all its runs. Raises RunEnded."""
        lease_end = get_lease_end(database_time())
        others = [held for held in tuple(self._held) if held != key]
        self.select_open().filter(pk__in=others).update(lease_expires_at=lease_end)
        running = self.model._default_manager.filter(pk=key, status=RunStatus.RUNNING)
        if not running.update(lease_expires_at=lease_end, **values):
            raise RunEnded
        release_connections()

    def select_open(self) -> QuerySet[Row]:
        return self.model._default_manager.filter(status__in=OPEN)

    def _end(self, key: Any, before: RunStatus, status: RunStatus, **values: Any) -> None:
        run = self.model._default_manager.filter(pk=key, status=before)
        run.update(status=status, finished_at=database_time(), **values)


def in_parts(results: Iterable[T], most: int) -> Iterator[list[T]]:
    """Results as they come, in parts that took about REPORT_SECONDS, or have `most` results."""
    part: list[T] = []
    began = time.monotonic()
    for result in results:
        part.append(result)
        time.sleep(PAUSE_SECONDS)
        if len(part) >= most or time.monotonic() - began >= REPORT_SECONDS:
            yield part
            part, began = [], time.monotonic()
    if part:
        yield part
