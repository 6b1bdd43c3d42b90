"""Rows that a commit leaves to be sent: at least once, with growing pauses after failures, until they are given up.

A sender claims a row before it sends it. If its process dies, the claim expires, and the row is sent again.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models
from django.db.models import F, QuerySet

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.text.compare import storable
from convengine.engine.turn.job import Counts
from convengine.server.database.release import release_connections
from convengine.server.database.sql import database_time

#: Rows that are sent at once.
_AT_ONCE = 8
#: Longer than an attempt usually takes. A row whose claim has expired is sent again.
_CLAIM = timedelta(minutes=1)
#: The pause after the first failure; it doubles up to the longest. So many attempts take a day.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
MOST_ATTEMPTS = 34
_LONGEST_ERROR = 1_000


class OutboxStatus(models.TextChoices):
    """What became of a row."""

    PENDING = "PENDING", "Waiting"
    SENT = "SENT", "Sent"
    FAILED = "FAILED", "Given up"


class OutboxRow(models.Model):
    """What every row to send has."""

    status = models.CharField(
        max_length=7, choices=OutboxStatus.choices, default=OutboxStatus.PENDING, help_text="What became of it."
    )
    attempts = models.PositiveIntegerField(default=0, help_text="How often it was tried.")
    next_attempt_at = models.DateTimeField("next attempt", help_text="When it is tried again.")
    error = models.TextField("last error", blank=True, default="", help_text="Why the last attempt failed.")
    created_at = models.DateTimeField("created", help_text="When it was made.")
    sent_at = models.DateTimeField("sent", null=True, help_text="When it was sent.")

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=OutboxRow)


def send_due(rows: QuerySet[Row], send: Callable[[Row], None]) -> Iterator[Counts]:
    """Send the rows that are due, the least tried first, a few at once, and say after each batch what became of them.

    `send` raises when it fails. It runs in threads, and touches no database.
    """
    while batch := _claim_batch(rows):
        release_connections()
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            errors = list(threads.map(lambda row: _try(send, row), batch))
        for row, error in zip(batch, errors, strict=True):
            _store_result(row, error)
        sent = errors.count("")
        yield {"sent": sent, "failed": len(errors) - sent}


def send_again(rows: QuerySet[Row]) -> int:
    """Let rows that were given up be tried again from the beginning, and say how many."""
    failed = rows.filter(status=OutboxStatus.FAILED)
    return failed.update(status=OutboxStatus.PENDING, attempts=0, next_attempt_at=database_time())


def _claim_batch(rows: QuerySet[Row]) -> list[Row]:
    now = database_time()
    due = rows.filter(status=OutboxStatus.PENDING, next_attempt_at__lte=now).order_by("attempts", "created_at", "pk")
    return [row for row in due[:_AT_ONCE] if _claim(row, now)]


def _claim(row: OutboxRow, now: datetime) -> bool:
    """True if this process may try it now."""
    unclaimed = _select(row).filter(attempts=row.attempts)
    return bool(unclaimed.update(attempts=F("attempts") + 1, next_attempt_at=now + _CLAIM))


def _try(send: Callable[[Row], None], row: Row) -> str:
    """What went wrong; blank for nothing."""
    try:
        send(row)
    except Exception as error:
        text = error.message if isinstance(error, ToolFault) else f"{type(error).__name__}: {error}"
        return storable(text)[:_LONGEST_ERROR]
    return ""


def _store_result(row: OutboxRow, error: str) -> None:
    now = database_time()
    values: dict[str, Any] = {"error": error}
    if not error:
        values |= {"status": OutboxStatus.SENT, "sent_at": now}
    elif row.attempts + 1 >= MOST_ATTEMPTS:
        values["status"] = OutboxStatus.FAILED
    else:
        values["next_attempt_at"] = now + min(FIRST_PAUSE * 2**row.attempts, LONGEST_PAUSE)
    _select(row).update(**values)


def _select(row: OutboxRow) -> QuerySet[Any]:
    return type(row)._default_manager.filter(pk=row.pk, status=OutboxStatus.PENDING)
