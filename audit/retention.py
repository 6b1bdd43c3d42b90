"""What of the record is kept for how long: events, deciding rows, model calls (settings 2.11, 2.13; R84)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from audit import partitions
from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from convengine import conf
from convengine.domain import settings
from convengine.domain.catalogue.llm import LOG_RETENTION_DAYS
from convengine.domain.job import Counts, Job, Nightly
from convengine.sessions.clock import database_time
from convengine.sessions.retention import cutoff

#: Rows of one transaction.
BATCH = 1000


def remove_old() -> Iterator[Counts]:
    """On PostgreSQL whole partitions of events first; then what is left, in batches."""
    if before := cutoff():
        for _ in partitions.drop_before(before):
            yield {"partitions": 1}
        yield from _emptied(CeAudit, before, "events")
        yield from _emptied(CeTurnRow, before, "deciding rows")
    if days := settings.read(conf.load("SNAPSHOT").current(), LOG_RETENTION_DAYS).value:
        yield from _emptied(CeLlmCallLog, database_time() - timedelta(days=days), "model calls")


def _emptied(model: Any, before: datetime, name: str) -> Iterator[Counts]:
    """Take out what is older, from the oldest on. Numbers rise with time, so that no index by time is needed."""
    last = 0
    while True:
        rows = list(model.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "created_at")[:BATCH])
        old = [pk for pk, at in rows if at < before]
        if not old:
            return
        removed = model.objects.filter(pk__in=old).purge()
        last = rows[-1][0]
        yield {name: removed}


JOB = Job(
    "old_audit",
    "Remove old audit events and model calls",
    "Removes audit events and deciding rows older than AUDIT/RETENTION_DAYS (0 keeps all) and model calls older than "
    "LLM/LOG_RETENTION_DAYS. On PostgreSQL, partitions of events are dropped whole.",
    Nightly(2),
    remove_old,
)
