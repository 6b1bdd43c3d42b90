"""Retention of turns, sessions, stored answers and tickets."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.job import Counts, Every, Job, Nightly, Retention
from convengine.server.database import throttle
from convengine.server.database.sql import database_time, remove_in_batches
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.sessions.models import (
    ENDED,
    CeConversation,
    CeConversationHistory,
    CeExtensionFault,
    CeIdempotency,
    CePendingActionExecution,
    CeTurnTicket,
)

#: Maximum rows, and sessions with all their data, per transaction.
ROWS, SESSIONS = 500, 25
#: A ticket lives for seconds. An older one belongs to a process that died.
_DEAD_TICKET = timedelta(hours=1)
#: How long tracebacks of extensions are kept.
_FAULTS_KEPT = timedelta(days=30)
#: How long the longest-lived counters stay: those of the addresses at which a user signed in.
_LONGEST_COUNTER = timedelta(days=30)


def retention_cutoff() -> datetime | None:
    """The time before which rows are removed; null to keep everything."""
    days = live_settings.read(configuration().current(), RETENTION_DAYS).value
    return database_time() - timedelta(days=days) if days else None


def remove_old_turns() -> Iterator[Counts]:
    """Remove sessions that nobody used since the cutoff, then old turns of other sessions."""
    before = retention_cutoff()
    if before is None:
        return
    turn_log().turns_removed_before(before)
    yield from _remove_sessions(before)
    yield from _remove_turns(before)


def remove_short_lived() -> Iterator[Counts]:
    """Remove expired stored answers and counters, tickets of turns that died, and old tracebacks."""
    now = database_time()
    yield from remove_in_batches(CeIdempotency.objects.filter(expires_at__lte=now), "stored answers")
    yield from remove_in_batches(CeTurnTicket.objects.filter(expires_at__lt=now - _DEAD_TICKET), "tickets")
    yield from remove_in_batches(CeExtensionFault.objects.filter(created_at__lt=now - _FAULTS_KEPT), "tracebacks")
    while count := throttle.remove_expired():
        yield {"counters": count}


def _remove_sessions(before: datetime) -> Iterator[Counts]:
    """The closer handles a session that a thread has open; one with an undecided action needs a decision."""
    unsettled = CePendingActionExecution.objects.filter(conversation=OuterRef("pk"), status="CLAIMED")
    old = CeConversation.objects.alias(used_at=Coalesce("last_message_at", "created_at")).filter(
        Q(channel=PLAIN_CHANNEL) | Q(lifecycle__in=ENDED),
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
            remove_conversations(keys, by="retention", reason="conversations that nobody used")
        yield {"sessions": len(keys)}


def remove_conversations(keys: Sequence[Any], *, by: str, reason: str) -> None:
    """Remove conversations with all that belongs to them, and record who does it. Needs an open transaction."""
    if keys:
        turn_log().conversations_leave(keys, by=by, reason=reason)
        # The sessions after them have none before them then, with their proof.
        followers = CeConversation.objects.filter(previous_session__in=keys).exclude(pk__in=keys)
        for row in followers.select_for_update(of=("self",)):
            row.change(previous_session_id=None)
            row.save(update_fields=["previous_session", "proof"])
        CeConversation.objects.filter(pk__in=keys).only("pk").delete()


def _remove_turns(before: datetime) -> Iterator[Counts]:
    """Old turns, oldest first, except the newest of each session, which the next turn needs."""
    last = 0
    while True:
        columns = ("pk", "created_at", "turn_no", "conversation__last_turn_no")
        rows = list(CeConversationHistory.objects.filter(pk__gt=last).order_by("pk").values_list(*columns)[:ROWS])
        old = [(pk, turn_no < newest) for pk, at, turn_no, newest in rows if at < before]
        # Numbers rise with time: later turns are newer, so no index by time is needed.
        if not old:
            return
        gone = [pk for pk, followed in old if followed]
        with transaction.atomic():
            turn_log().turns_leave(gone)
            turns = CeConversationHistory.objects.filter(pk__in=gone)
            _find_executions(turns, before).delete()
            turns.delete()
        last = rows[-1][0]
        yield {"turns": len(gone)}


def _find_executions(turns: QuerySet[CeConversationHistory], before: datetime) -> QuerySet[CePendingActionExecution]:
    """The decided executions that leave with turns.

    Without the record of its turn, a result would count as one that the conversation has never heard of.
    """
    keys = list(turns.values_list("conversation_id", "turn_id"))
    return CePendingActionExecution.objects.filter(
        Q(turn_id__in=[turn for _, turn in keys]) | Q(started_at__lt=before),
        conversation_id__in={conversation for conversation, _ in keys},
    ).exclude(status="CLAIMED")


SHORT_LIVED = Job(
    "expired_answers",
    "Remove expired answers, tickets, counters and tracebacks",
    "Removes expired answers for repeated requests, expired tickets of waiting turns, expired counters of calls and "
    "sign-ins, and old tracebacks.",
    Every(3600),
    remove_short_lived,
    removes=(
        Retention(["ce_sessions.CeIdempotency"], "IDEMPOTENCY_HOURS"),
        Retention(["ce_sessions.CeTurnTicket"], _DEAD_TICKET),
        Retention(["ce_sessions.CeExtensionFault"], _FAULTS_KEPT),
        Retention(["ce_api.CeThrottle"], _LONGEST_COUNTER),
    ),
)
TURNS = Job(
    "old_turns",
    "Remove old turns and sessions",
    "Removes turns and unused sessions that are older than “Retention of turns (days)” in the settings.",
    Nightly(3),
    remove_old_turns,
    removes=[Retention(["ce_sessions.CeConversation"], RETENTION_DAYS)],
)
