"""Retention of the record: events, deciding rows, model calls, accesses (settings 2.11, 2.13; R84).

What a rule removes is recorded first, so that its absence is no damage.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q

from audit.models import (
    CeAccessLog,
    CeAudit,
    CeChainBase,
    CeChainCut,
    CeChainLink,
    CeLlmCallLog,
    CeMcpUserFeedback,
    CeReplayJob,
    CeTurnRow,
)
from audit.record import partitions
from audit.record.seal.cuts import last_checked_event, note_cut
from convengine.engine.llm.settings import LOG_RETENTION_DAYS
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.prompts.stages import PROMPT_RENDERING
from convengine.engine.stages import STAGES
from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import (
    ACCESS_RETENTION_DAYS,
    FEEDBACK_RETENTION_DAYS,
    PROMPT_RETENTION_DAYS,
    STEP_RETENTION_DAYS,
)
from convengine.engine.turn.job import Counts, Job, Nightly
from convengine.server.app_interfaces import configuration
from convengine.server.database.sealed_tables import PurgedQuerySet
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation
from convengine.server.sessions.old_turns import retention_cutoff

#: Rows per transaction.
BATCH = 1000
#: A replay can be repeated.
REPLAYS_KEPT = timedelta(days=7)
_STEPS = (STEP_ENTER, STEP_EXIT)
_PROMPTS = (
    *(str(stage) for stage in STAGES.values() if stage.endswith(("_LLM_INPUT", "_LLM_OUTPUT"))),
    PROMPT_RENDERING,
)
Kind = CeChainCut.Kind


def remove_old() -> Iterator[Counts]:
    """On PostgreSQL first whole partitions of events; then the rest in batches; then kinds with a shorter retention."""
    if before := retention_cutoff():
        note_cut(Kind.EVENTS, before)
        for _ in partitions.drop_before(before):
            yield {"partitions": 1}
        yield from _remove_older(CeAudit, before, "events")
        yield from _remove_older(CeTurnRow, before, "deciding rows")
        yield from _remove_orphaned_seals(before)
    if before := _cutoff_of(STEP_RETENTION_DAYS):
        note_cut(Kind.STEPS, before)
        yield from _remove_steps(before)
    if before := _cutoff_of(PROMPT_RETENTION_DAYS):
        note_cut(Kind.PROMPTS, before)
        yield from _remove_prompts(before)
    if before := _cutoff_of(LOG_RETENTION_DAYS):
        note_cut(Kind.CALLS, before)
        yield from _remove_older(CeLlmCallLog, before, "model calls")
    if before := _cutoff_of(FEEDBACK_RETENTION_DAYS):
        yield from _remove_older(CeMcpUserFeedback, before, "feedback")
    if before := _cutoff_of(ACCESS_RETENTION_DAYS):
        yield from _remove_older(CeAccessLog, before, "looks")
    yield from _remove_replays(database_time() - REPLAYS_KEPT)


def _cutoff_of(setting: live_settings.Setting[int]) -> datetime | None:
    days = live_settings.read(configuration().current(), setting).value
    return database_time() - timedelta(days=days) if days else None


def _remove_steps(before: datetime) -> Iterator[Counts]:
    """Starts and ends of steps, which no index finds by stage: searched from where the last night ended."""
    last = last_checked_event(Kind.STEPS)
    while True:
        events = CeAudit.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "created_at", "stage")
        rows = list(events[:BATCH])
        old = [pk for pk, at, _ in rows if at < before]
        if not old:
            break
        removed = CeAudit.objects.filter(
            pk__in=[pk for pk, at, stage in rows if stage in _STEPS and at < before]
        ).purge()
        # Numbers rise with time except for simultaneous turns, so the last batch is searched again.
        last = rows[-1][0] if len(old) == len(rows) else old[0] - 1
        if removed:
            yield {"events of steps": removed}
        if len(old) < len(rows):
            break
    note_cut(Kind.STEPS, before, last)


def _remove_prompts(before: datetime) -> Iterator[Counts]:
    """Found by their stage."""
    wanted = Q(stage__in=_PROMPTS)
    for stage in _PROMPTS:
        wanted |= Q(stage__startswith=f"{stage} (")
    while keys := list(CeAudit.objects.filter(wanted, created_at__lt=before).values_list("pk", flat=True)[:BATCH]):
        yield {"prompts": CeAudit.objects.filter(pk__in=keys).purge()}


def _remove_orphaned_seals(before: datetime) -> Iterator[Counts]:
    """Seals of additions, and beginnings of chains, of removed conversations."""
    exists = Exists(CeConversation.objects.filter(pk=OuterRef("conversation_id")))
    for model in (CeChainLink, CeChainBase):
        while keys := list(model.objects.filter(~exists, created_at__lt=before).values_list("pk", flat=True)[:BATCH]):
            yield {"seals": _remove_rows(model.objects.filter(pk__in=keys))}


def _remove_replays(before: datetime) -> Iterator[Counts]:
    """Found by their index, because their keys do not depend on time."""
    old = CeReplayJob.objects.filter(created_at__lt=before)
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        yield {"replays": _remove_rows(CeReplayJob.objects.filter(pk__in=keys))}


def _remove_rows(rows: Any) -> int:
    return int(rows.purge() if isinstance(rows, PurgedQuerySet) else rows.delete()[0])


def _remove_older(model: Any, before: datetime, name: str) -> Iterator[Counts]:
    """Remove older rows, oldest first. Numbers rise with time, so no index by time is needed."""
    last = 0
    while True:
        rows = list(model.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "created_at")[:BATCH])
        old = [pk for pk, at in rows if at < before]
        if not old:
            return
        removed = _remove_rows(model.objects.filter(pk__in=old))
        last = rows[-1][0]
        yield {name: removed}


JOB = Job(
    "old_audit",
    "Remove old audit events and model calls",
    (
        "Removes audit events and deciding rows older than “Retention of turns (days)” in the settings. Events of "
        "steps, prompts, model calls and the access log have settings of their own. Results of replays are removed "
        "after a week."
    ),
    Nightly(2),
    remove_old,
)
