"""Retention of the record: parts of documents, whole documents, model calls, accesses.

What a rule removes is recorded first, so that its absence is no damage. The seal of a row that loses a part keeps the
hash of that part, so what remains is still verified with the seal of its turn.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, TextField, Value
from django.db.models.functions import Cast, Concat

from audit import seal as seals
from audit.models import (
    CeAccessLog,
    CeAlertMessage,
    CeChain,
    CeChainBase,
    CeChainCut,
    CeMcpUserFeedback,
    CeReplayJob,
    CeRunningEvent,
    CeTurnIndex,
    CeWhatIf,
)
from audit.record import document_parts, removals, step_times
from audit.seal import SEALED, encode_parts, read_seal
from convengine.engine.llm.settings import LOG_RETENTION_DAYS
from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import (
    ACCESS_RETENTION_DAYS,
    FEEDBACK_RETENTION_DAYS,
    PROMPT_RETENTION_DAYS,
    RETENTION_DAYS,
    STEP_RETENTION_DAYS,
)
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.job import Counts, Job, Nightly, Retention
from convengine.json_value import Json
from convengine.server.database.sealed_tables import PurgedQuerySet
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.sessions.old_turns import retention_cutoff

#: Rows per transaction.
BATCH = 1000
_DOCUMENTS = 200
_TURNS, _HISTORY = CeConversationHistory._meta.db_table, CeConversationHistory._meta.label
#: In place of an address that was removed.
_FORGOTTEN = "removed "
#: A replay can be repeated.
REPLAYS_KEPT = timedelta(days=7)
Kind = CeChainCut.Kind


def remove_old() -> Iterator[Counts]:
    """Remove what is older than its retention: whole documents and what belongs to them, then each kind with its own.

    A kind whose setting is 0 is kept. Replays have a fixed retention.
    """
    if before := retention_cutoff():
        yield from _cut_documents(Kind.EVENTS, seals.CONTENTS, before, "documents")
        yield from _remove_older(CeTurnIndex, before, "deciding rows", "turn_id", "at")
        yield from _remove_older(CeRunningEvent, before, "running events")
        # The beginnings of chains of conversations that were removed themselves.
        exists = Exists(CeConversation.objects.filter(pk=OuterRef("conversation_id")))
        orphans = CeChainBase.objects.filter(~exists, created_at__lt=before)
        while keys := list(orphans.values_list("pk", flat=True)[:BATCH]):
            yield {"seals": CeChainBase.objects.filter(pk__in=keys).delete()[0]}
        yield from _forget_recipients(before)
    if before := _cutoff_of(STEP_RETENTION_DAYS):
        yield from _cut_documents(Kind.STEPS, seals.STEPS, before, "events of steps", document_parts.STEPS)
    if before := _cutoff_of(PROMPT_RETENTION_DAYS):
        yield from _cut_documents(Kind.PROMPTS, seals.PROMPTS, before, "prompts", document_parts.PROMPTS)
    if before := _cutoff_of(LOG_RETENTION_DAYS):
        yield from _cut_documents(Kind.CALLS, seals.CALLS, before, "model calls", document_parts.CALLS)
    if before := _cutoff_of(FEEDBACK_RETENTION_DAYS):
        yield from _remove_entries(CeMcpUserFeedback, before, "feedback", FEEDBACK_RETENTION_DAYS)
    if before := _cutoff_of(ACCESS_RETENTION_DAYS):
        yield from _remove_entries(CeAccessLog, before, "looks", ACCESS_RETENTION_DAYS)
    before = database_time() - REPLAYS_KEPT
    for model in (CeReplayJob, CeWhatIf):
        # By their index of times, because their keys do not rise with time.
        old = model.objects.filter(created_at__lt=before)
        while keys := list(old.values_list("pk", flat=True)[:BATCH]):
            yield {"replays": remove_rows(model.objects.filter(pk__in=keys))}


def _cutoff_of(setting: live_settings.Setting[int]) -> datetime | None:
    days = live_settings.read(configuration().current(), setting).value
    return database_time() - timedelta(days=days) if days else None


def _cut_documents(
    kind: CeChainCut.Kind,
    bit: int,
    before: datetime,
    name: str,
    part: int | None = None,
) -> Iterator[Counts]:
    """Remove a part of older documents, or without `part` all of them, from where the last night ended."""
    removals.note_cut(kind, before)
    last = removals.last_checked_row(kind)
    while True:
        with transaction.atomic():
            every = CeConversationHistory._base_manager.filter(pk__gt=last).order_by("pk")
            rows = read_rows(every.select_for_update(no_key=True, of=("self",))[:_DOCUMENTS])
            old = [row for row in rows if row.created_at < before]
            counts = {row.pk: _cut_row(row, bit, part) for row in old}
            if keys := [pk for pk, count in counts.items() if count]:
                reason = f"{name}: {Kind(kind).label} before {before:%Y-%m-%d}"
                removals.note_removal(removals.Kind.RETENTION, _TURNS, keys, removals.RETENTION_BY, reason)
            cut = sum(counts.values())
        if cut:
            yield {name: cut}
        # Numbers rise with time except for simultaneous turns, so a batch with newer rows is searched again next time.
        if len(old) < len(rows) or not rows:
            break
        last = rows[-1].pk
    removals.note_cut(kind, before, last)


def _cut_row(row: CeConversationHistory, bit: int, part: int | None) -> int:
    """Cut a part of one row, or without `part` its document and its recording.

    Returns how many events it lost, 1 for a document or calls, and 0 if nothing was left to cut.
    """
    if part is None:
        if row.events is None and row.recording is None:
            return 0
        cut_row(row, {"events": None, "recording": None}, bit)
        return 1
    parts = document_parts.read_parts(row.events)
    removed = step_times.unfold_steps(parts[part])
    if removed:
        parts[part].clear()
        cut_row(row, {"events": dumps(document_parts.join_parts(parts))}, bit)
    return 1 if part == document_parts.CALLS and removed else len(removed)


def cut_row(row: CeConversationHistory, changed: Mapping[str, Json], bit: int) -> None:
    """Empty the `changed` columns of a row. Its seal keeps the hashes of what it loses. Needs an open transaction."""
    seal = None
    # What is no seal, as verifying reports, must not keep anybody's data from being removed.
    if whole := read_seal(row.seal):
        values = {name: getattr(row, name) for name in SEALED}
        document = document_parts.encode_parts(document_parts.read_parts(row.events))
        seal = whole.cut(bit, encode_parts(values, document=document)).to_bytes()
    CeConversationHistory._base_manager.filter(pk=row.pk).update(seal=seal, **changed)


def _forget_recipients(before: datetime) -> Iterator[Counts]:
    """Remove recipient, content and error of old alert messages that were sent or given up. The messages stay."""
    old = CeAlertMessage.objects.filter(created_at__lt=before).exclude(status=OutboxStatus.PENDING)
    named = old.exclude(recipient__startswith=_FORGOTTEN)
    while keys := list(named.values_list("pk", flat=True)[:BATCH]):
        with transaction.atomic():
            # Numbered, because each recipient gets one message.
            recipient = Concat(Value(_FORGOTTEN), Cast("pk", TextField()))
            forgotten = CeAlertMessage.objects.filter(pk__in=keys)
            yield {"recipients": forgotten.update(recipient=recipient, content={}, error="")}


def remove_rows(rows: Any) -> int:
    """Remove rows, also of tables that only get more. The caller records it where that is due. Returns how many."""
    return int(rows.purge() if isinstance(rows, PurgedQuerySet) else rows.delete()[0])


def _remove_entries(model: Any, before: datetime, name: str, setting: live_settings.Setting[int]) -> Iterator[Counts]:
    """Remove the oldest entries of a chain, which begins after them then."""
    table = model._meta.db_table
    while True:
        with transaction.atomic():
            chain = CeChain.lock(table)
            rows = model.objects.order_by("pk").values_list("pk", "created_at", "seal")[:BATCH]
            old = list(takewhile(lambda row: row[1] < before, rows))
            if not old:
                return
            keys, last = [pk for pk, _, _ in old], read_seal(old[-1][2])
            chain.store(removed_to=keys[-1], base=last.hash if last else chain.base)
            removed = remove_rows(model.objects.filter(pk__in=keys))
            removals.note_removal(removals.Kind.RETENTION, table, keys, removals.RETENTION_BY, setting.name)
        yield {name: removed}


def _remove_older(
    model: Any, before: datetime, name: str, unit: str = "pk", column: str = "created_at"
) -> Iterator[Counts]:
    """Remove older rows, oldest first. Numbers rise with time, so no index by time is needed.

    Rows with the same `unit` are removed at once. `column` has the time of a row.
    """
    last = 0
    while True:
        rows = list(model.objects.filter(pk__gt=last).order_by("pk").values_list("pk", unit, column)[:BATCH])
        old = {key for _, key, at in rows if at < before}
        if not old:
            return
        removed = remove_rows(model.objects.filter(**{f"{unit}__in": old}))
        last = rows[-1][0]
        yield {name: removed}


JOB = Job(
    "old_audit",
    "Remove old audit events and model calls",
    (
        "Removes events, recordings and deciding rows older than “Retention of turns (days)” in the settings. Events "
        "of steps, prompts, model calls and the access log have settings of their own. Results of replays are "
        "removed after a week."
    ),
    Nightly(2),
    remove_old,
    removes=(
        Retention(["audit.CeTurnIndex", "audit.CeRunningEvent", "audit.CeChainBase"], RETENTION_DAYS),
        Retention([_HISTORY], RETENTION_DAYS, "events and recordings"),
        Retention(["audit.CeAlertMessage"], RETENTION_DAYS, "recipients, contents and errors"),
        Retention([_HISTORY], STEP_RETENTION_DAYS, "events of steps"),
        Retention([_HISTORY], PROMPT_RETENTION_DAYS, "prompts"),
        Retention([_HISTORY], LOG_RETENTION_DAYS, "model calls"),
        Retention(["audit.CeMcpUserFeedback"], FEEDBACK_RETENTION_DAYS),
        Retention(["audit.CeAccessLog"], ACCESS_RETENTION_DAYS),
        Retention(["audit.CeReplayJob", "audit.CeWhatIf"], REPLAYS_KEPT),
    ),
)
