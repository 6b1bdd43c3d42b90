"""What of conversations is kept for how long (settings 2.11): turns and sessions, stored answers, tickets."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from convengine import conf
from convengine.domain import settings
from convengine.domain.catalogue.audit import RETENTION_DAYS
from convengine.domain.job import Counts, Every, Job, Nightly
from convengine.sessions.clock import database_time
from convengine.sessions.compaction import ENDED
from convengine.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CePendingActionExecution,
    CeTurnTicket,
)

#: Rows, and sessions with all that hangs on them, of one transaction.
ROWS, SESSIONS = 500, 25
#: A ticket lives for seconds. What is older was left behind by a process that died.
_DEAD_TICKET = timedelta(hours=1)


def cutoff() -> datetime | None:
    """What is older goes; null where everything is kept."""
    days = settings.read(conf.load("SNAPSHOT").current(), RETENTION_DAYS).value
    return database_time() - timedelta(days=days) if days else None


def remove_old() -> Iterator[Counts]:
    """Sessions that nobody has used since the cutoff, whole; then the old turns of those that go on."""
    before = cutoff()
    if before is None:
        return
    conf.load("AUDIT_WRITER").turns_removed_before(before)
    yield from _sessions(before)
    yield from _turns(before)


def remove_short_lived() -> Iterator[Counts]:
    """Answers that are no longer repeated, and tickets of waiters that died."""
    now = database_time()
    yield from _removed(CeIdempotency.objects.filter(expires_at__lte=now), "stored answers")
    yield from _removed(CeTurnTicket.objects.filter(expires_at__lt=now - _DEAD_TICKET), "tickets")


def _sessions(before: datetime) -> Iterator[Counts]:
    """One that a thread still has open is the closer's; one with an action to settle waits for a person."""
    unsettled = CePendingActionExecution.objects.filter(conversation=OuterRef("pk"), status="CLAIMED")
    old = CeConversation.objects.alias(used_at=Coalesce("last_message_at", "created_at")).filter(
        Q(channel="api") | Q(lifecycle__in=ENDED),
        ~Exists(unsettled),
        updated_at__lt=before,
        used_at__lt=before,
        lease_token=None,
    )
    while True:
        with transaction.atomic():
            keys = list(
                old.order_by("updated_at")
                .select_for_update(skip_locked=True, of=("self",))
                .values_list("pk", flat=True)[:SESSIONS]
            )
            if not keys:
                return
            CeConversation.objects.filter(pk__in=keys).only("pk").delete()
        yield {"sessions": len(keys)}


def _turns(before: datetime) -> Iterator[Counts]:
    """Old turns, from the oldest on, but the newest of each session: what it said is where the next one goes on."""
    last = 0
    while True:
        columns = ("pk", "created_at", "turn_no", "conversation__last_turn_no")
        rows = list(CeConversationHistory.objects.filter(pk__gt=last).order_by("pk").values_list(*columns)[:ROWS])
        old = [(pk, turn_no < newest) for pk, at, turn_no, newest in rows if at < before]
        # Numbers rise with time: behind these there is nothing older, and no index by time is needed.
        if not old:
            return
        gone = [pk for pk, followed in old if followed]
        with transaction.atomic():
            conf.load("AUDIT_WRITER").turns_leave(gone)
            CeConversationHistory.objects.filter(pk__in=gone).delete()
        last = rows[-1][0]
        yield {"turns": len(gone)}


def _removed(rows: QuerySet[Any], name: str) -> Iterator[Counts]:
    """Delete rows, some at a time."""
    while keys := list(rows.values_list("pk", flat=True)[:ROWS]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        yield {name: len(keys)}


SHORT_LIVED = Job(
    "expired_answers",
    "Remove expired answers and tickets",
    "Answers kept for repeated requests are removed when their time is over, tickets of waiting turns that died too.",
    Every(3600),
    remove_short_lived,
)
TURNS = Job(
    "old_turns",
    "Remove old turns and sessions",
    "Removes turns, and sessions that nobody has used since, that are older than AUDIT/RETENTION_DAYS (0 keeps all).",
    Nightly(3),
    remove_old,
)
