"""Rows that a commit leaves to be sent: at least once, with growing pauses after failures, until they are given up.

A sender claims a row before it sends it. If its process dies, the claim expires, and the row is sent again. A row whose
processes die again and again is given up: it may be what ends them.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any, Generic, TypeVar

import structlog
from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import F, QuerySet

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.job import Counts
from convengine.server.database.sql import database_time, describe_fault, release_connections
from convengine.server.deployment import conf
from convengine.server.jobs.background import Background
from convengine.server.jobs.processes import hand_over, is_worker
from convengine.server.outgoing.loop import outgoing

#: Rows that a receiver gets at once from one process.
MOST_AT_ONCE = 4
#: Rows that are read at once.
_READ_AHEAD = 64
#: Seconds of an attempt; and the time after which a row whose sender died is sent again.
_ATTEMPT_SECONDS, _CLAIM = 30, timedelta(minutes=1)
#: Seconds after which a sender says what became of the rows, while it goes on.
_REPORT_SECONDS = 1.0
#: The pause after the first failure; it doubles up to the longest. This many attempts span about a day.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
MOST_ATTEMPTS = 34
#: After this many deaths of its processes, a row is given up. Before the last one, it is tried alone.
MOST_DEATHS = 3
_DIED = (
    f"The server process ended during {MOST_DEATHS} attempts, so there is no further one. The server log may say why."
)
_LONGEST_ERROR = 1_000
log = structlog.get_logger(__name__)


#: Set when this process is about to end: it claims nothing more, and others take what is due.
_is_ending = Event()


def stop_claiming() -> None:
    """Claim no row in this process from now on. What was claimed is sent."""
    _is_ending.set()


class SendFailed(ToolFault):
    """An attempt failed, and the receiver said what to do.

    `pause`: how long the next attempt waits at least. `is_final`: it is the last one of this row.
    """

    def __init__(self, fault: ToolFault, *, pause: timedelta = timedelta(), is_final: bool = False) -> None:
        super().__init__(fault.code, fault.message)
        self.pause, self.is_final = pause, is_final


class OutboxStatus(models.TextChoices):
    """What became of a row."""

    PENDING = "PENDING", "Waiting"
    SENT = "SENT", "Sent"
    FAILED = "FAILED", "Abandoned"


class OutboxRow(models.Model):
    status = models.CharField(
        max_length=7, choices=OutboxStatus.choices, default=OutboxStatus.PENDING, help_text="Delivery status."
    )
    attempts = models.PositiveIntegerField(default=0, help_text="How often it was tried.")
    deaths = models.SmallIntegerField(
        default=0, db_default=0, help_text="How many attempts ended with their process. One that runs counts, too."
    )
    next_attempt_at = models.DateTimeField("next attempt", help_text="When it is tried again.")
    error = models.TextField("last error", blank=True, default="", help_text="Why the last attempt failed.")
    created_at = models.DateTimeField("created", help_text="When it was made.")
    sent_at = models.DateTimeField("sent", null=True, help_text="When it was sent.")

    class Meta:
        abstract = True

    @property
    def most_attempts(self) -> int:
        """How often it is tried before it is given up."""
        return MOST_ATTEMPTS

    @property
    def has_last_chance(self) -> bool:
        """True if another death is its last one."""
        return self.deaths == MOST_DEATHS - 1

    def describe_change(self, values: dict[str, Any]) -> dict[str, Any]:
        """What a statement stores that sets these columns."""
        return values


Row = TypeVar("Row", bound=OutboxRow)
#: Hands work to workers: a broker may take seconds to answer.
_handing = Background(threads=1)


@dataclass(eq=False)
class Outbox(Generic[Row]):
    """The rows of one table that wait to be sent. Several processes may send them.

    Receivers do not wait for each other: each gets a few rows at once, whatever the others do. A result is stored as
    soon as it is there.
    """

    #: Gives the rows that may be sent.
    select: Callable[[], QuerySet[Row]]
    #: Raises when it fails. It runs in the loop of outgoing calls, and touches no database.
    send: Callable[[Row], Coroutine[Any, Any, None]]
    #: The column that names who gets a row.
    receiver: str
    #: How many rows a receiver may get at once just now.
    limit: Callable[[Any], int] = lambda receiver: MOST_AT_ONCE
    #: Is called in the transaction that gives a row up.
    on_given_up: Callable[[Row, ToolFault], None] = lambda row, error: None
    #: The name in HANDED_WORK under which a worker sends what is due.
    handed_as: str = ""
    #: Of an attempt.
    seconds: Callable[[], float] = lambda: _ATTEMPT_SECONDS
    #: How long a claim lasts: twice as long after each death. It is renewed meanwhile.
    claim: timedelta = _CLAIM

    def __post_init__(self) -> None:
        #: Who claims holds it.
        self._claiming = Lock()
        self._is_handing = Event()
        self._background = Background(threads=1)
        self._is_woken = Event()
        #: The results that each running `send_due` waits for, and what it attempts; null means that rows were added.
        self._senders: dict[SimpleQueue[tuple[Row, ToolFault | None] | None], dict[Any, Row]] = {}

    def wake(self) -> None:
        """Have rows sent that were committed: by a worker, or in the background of this process. Waits for nothing.

        Where no jobs run, nothing is sent either.
        """
        if not conf.get("BROKER_URL"):
            if conf.get("JOBS_IN_PROCESS"):
                self.wake_here()
        elif not self._is_handing.is_set():
            self._is_handing.set()
            if not _handing.submit(self._hand_over):
                self._is_handing.clear()

    def _hand_over(self) -> None:
        self._is_handing.clear()
        # A worker sends itself what its work leaves: other work may wait for long while all workers have some.
        if is_worker.is_set() or not hand_over(self.handed_as):
            self.wake_here()

    def wake_here(self) -> None:
        """Have the due rows sent in the background of this process. Waits for nothing."""
        for results in tuple(self._senders):
            results.put(None)
        if not self._is_woken.is_set():
            self._is_woken.set()
            if not self._background.submit(self._send_woken):
                self._is_woken.clear()

    def _send_woken(self) -> None:
        self._is_woken.clear()
        for _ in self.send_due():
            pass

    def send_due(self) -> Iterator[Counts]:
        """Send the due rows, the least tried first, and say now and then what became of them."""
        results: SimpleQueue[tuple[Row, ToolFault | None] | None] = SimpleQueue()
        running: dict[Any, Row] = {}
        self._senders[results] = running
        candidates: list[Row] = []
        counts: Counter[str] = Counter()
        reported_at = renewed_at = time.monotonic()
        try:
            while True:
                for row in self._claim_due(running, candidates):
                    outgoing.start(self._attempt(row, results))
                if not running:
                    break
                release_connections()
                for row, error in _take_results(results):
                    del running[row.pk]
                    self._end_attempt(row, error)
                    counts["failed" if error else "sent"] += 1
                renewed_at = self._renew_claims(running.values(), renewed_at)
                if time.monotonic() - reported_at >= _REPORT_SECONDS:
                    yield counts
                    counts, reported_at = Counter(), time.monotonic()
                    # They may have changed meanwhile.
                    candidates.clear()
        finally:
            del self._senders[results]
        if counts:
            yield counts

    def _claim_due(self, running: dict[Any, Row], candidates: list[Row]) -> Iterator[Row]:
        """Claim what each receiver may get now, beside what runs. `candidates` are read before they are needed."""
        now = database_time()
        receivers = Counter(map(self._find_receiver, running.values()))
        while not _is_ending.is_set():
            # While one that has its last chance waits to be alone, nothing else is claimed.
            candidates.sort(key=lambda row: not row.has_last_chance)
            for row in candidates[:]:
                receiver = self._find_receiver(row)
                if receivers[receiver] < self.limit(receiver):
                    with self._claiming:
                        if self._must_wait(row):
                            return
                        candidates.remove(row)
                        if not _claim(row, now, self.claim):
                            continue
                        running[row.pk] = row
                    receivers[receiver] += 1
                    yield row
            supplied = set(map(self._find_receiver, candidates))
            supplied |= {receiver for receiver, count in receivers.items() if count >= self.limit(receiver)}
            due = self.select().filter(status=OutboxStatus.PENDING, next_attempt_at__lte=now)
            others = due.exclude(**{f"{self.receiver}__in": supplied}).order_by("attempts", "created_at", "pk")
            further = list(others[:_READ_AHEAD])
            if not further:
                return
            candidates += further

    def _find_receiver(self, row: Row) -> Any:
        return getattr(row, self.receiver)

    def _must_wait(self, row: Row) -> bool:
        """True if a row would have its last chance beside another one, which may be what ends the process."""
        others = [each for running in tuple(self._senders.values()) for each in tuple(running.values())]
        return bool(others) and any(each.has_last_chance for each in (row, *others))

    def _renew_claims(self, running: Collection[Row], renewed_at: float) -> float:
        """Renew the claims of what runs after a third of their time. Returns when they were renewed last."""
        if time.monotonic() - renewed_at < self.claim.total_seconds() / 3:
            return renewed_at
        now = database_time()
        for deaths in {row.deaths for row in running}:
            keys = [row.pk for row in running if row.deaths == deaths]
            claimed = self.select().model._default_manager.filter(pk__in=keys, status=OutboxStatus.PENDING)
            claimed.update(next_attempt_at=now + self.claim * 2**deaths)
        return time.monotonic()

    def _end_attempt(self, row: Row, error: ToolFault | None) -> None:
        """Store what became of an attempt. A row whose result the database refuses is given up alone."""
        try:
            with transaction.atomic():
                if _store_result(row, error) == OutboxStatus.FAILED and error:
                    self.on_given_up(row, error)
        except (OperationalError, InterfaceError):
            raise
        except Exception as refused:
            log.error("result not stored", table=row._meta.db_table, row=str(row.pk), exc_info=refused)
            text = (
                f"{error.message if error else 'It was sent.'} The result cannot be stored: {describe_fault(refused)}"
            )
            if stored := type(row)._default_manager.filter(pk=row.pk).first():
                _store_result(stored, SendFailed(ToolFault("RESULT_NOT_STORED", text), is_final=True))

    async def _attempt(self, row: Row, results: "SimpleQueue[tuple[Row, ToolFault | None] | None]") -> None:
        error: ToolFault | None = None
        try:
            if row.deaths >= MOST_DEATHS:
                log.error("given up after deaths of its processes", table=row._meta.db_table, row=str(row.pk))
                raise ToolFault("PROCESS_DIED", _DIED)
            async with asyncio.timeout(self.seconds()):
                await self.send(row)
        except ToolFault as fault:
            error = fault
        except TimeoutError:
            error = ToolFault("HTTP_TIMEOUT", f"It took longer than {self.seconds():g} s.")
        except Exception as exception:
            error = ToolFault(type(exception).__name__, f"{type(exception).__name__}: {exception}")
        results.put((row, error))


def _take_results(
    results: "SimpleQueue[tuple[Row, ToolFault | None] | None]",
) -> Iterator[tuple[Row, ToolFault | None]]:
    """What has come, after waiting for the first, for a while."""
    timeout = _REPORT_SECONDS
    with suppress(Empty):
        while True:
            result = results.get(timeout=timeout)
            timeout = 0
            if result:
                yield result


def start_anew() -> dict[str, Any]:
    """The columns of a row that is tried from the beginning."""
    return {"status": OutboxStatus.PENDING, "attempts": 0, "deaths": 0, "next_attempt_at": database_time()}


def send_again(rows: QuerySet[Row]) -> int:
    """Let rows that were given up be tried again from the beginning, and say how many."""
    count, again = 0, start_anew()
    with transaction.atomic():
        for row in rows.filter(status=OutboxStatus.FAILED).iterator():
            failed = type(row)._default_manager.filter(pk=row.pk, status=OutboxStatus.FAILED)
            count += failed.update(**row.describe_change(again))
    return count


def _claim(row: OutboxRow, now: datetime, duration: timedelta) -> bool:
    """True if this process may try it now."""
    unclaimed = _select(row).filter(attempts=row.attempts)
    # What is given up is not tried.
    tries = int(row.deaths < MOST_DEATHS)
    until = now + duration * 2**row.deaths
    return bool(unclaimed.update(attempts=F("attempts") + tries, deaths=F("deaths") + 1, next_attempt_at=until))


def _store_result(row: OutboxRow, error: ToolFault | None) -> str | None:
    """Store what became of an attempt. Returns the new status, if the row has one."""
    now = database_time()
    values: dict[str, Any] = {"error": error.message[:_LONGEST_ERROR] if error else "", "deaths": F("deaths") - 1}
    pause, is_final = (error.pause, error.is_final) if isinstance(error, SendFailed) else (timedelta(), False)
    if not error:
        values |= {"status": OutboxStatus.SENT, "sent_at": now}
    elif is_final or row.deaths >= MOST_DEATHS or row.attempts + 1 >= row.most_attempts:
        values["status"] = OutboxStatus.FAILED
    else:
        values["next_attempt_at"] = now + max(min(FIRST_PAUSE * 2**row.attempts, LONGEST_PAUSE), pause)
    is_stored = _select(row).update(**row.describe_change(values))
    row.error = values["error"]
    return values.get("status") if is_stored else None


def _select(row: OutboxRow) -> QuerySet[Any]:
    return type(row)._default_manager.filter(pk=row.pk, status=OutboxStatus.PENDING)
