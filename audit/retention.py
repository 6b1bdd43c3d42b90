"""What of the record is kept for how long: events, deciding rows, model calls, looks (settings 2.11, 2.13; R84).

What is taken out by rule is noted first, so that its absence is no damage.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q

from audit import partitions
from audit.chain.cuts import looked_to, noted
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
from convengine import conf
from convengine.domain import settings
from convengine.domain.catalogue.audit import (
    ACCESS_RETENTION_DAYS,
    FEEDBACK_RETENTION_DAYS,
    PROMPT_RETENTION_DAYS,
    STEP_RETENTION_DAYS,
)
from convengine.domain.catalogue.llm import LOG_RETENTION_DAYS
from convengine.domain.job import Counts, Job, Nightly
from convengine.domain.stages import Stage
from convengine.sealed import PurgedQuerySet
from convengine.sessions.clock import database_time
from convengine.sessions.models import CeConversation
from convengine.sessions.retention import cutoff

#: Rows of one transaction.
BATCH = 1000
#: What came of a replay can be had again by asking again.
REPLAYS_KEPT = timedelta(days=7)
_STEPS = (Stage.STEP_ENTER.value, Stage.STEP_EXIT.value)
_PROMPTS = (
    *(stage.value for stage in Stage if stage.value.endswith(("_LLM_INPUT", "_LLM_OUTPUT"))),
    Stage.PROMPT_RENDERING.value,
)
Kind = CeChainCut.Kind


def remove_old() -> Iterator[Counts]:
    """On PostgreSQL whole partitions of events first; then what is left, in batches; then kinds that go earlier."""
    if before := cutoff():
        noted(Kind.EVENTS, before)
        for _ in partitions.drop_before(before):
            yield {"partitions": 1}
        yield from _emptied(CeAudit, before, "events")
        yield from _emptied(CeTurnRow, before, "deciding rows")
        yield from _chains_of_nothing(before)
    if before := _until(STEP_RETENTION_DAYS):
        noted(Kind.STEPS, before)
        yield from _steps(before)
    if before := _until(PROMPT_RETENTION_DAYS):
        noted(Kind.PROMPTS, before)
        yield from _prompts(before)
    if before := _until(LOG_RETENTION_DAYS):
        noted(Kind.CALLS, before)
        yield from _emptied(CeLlmCallLog, before, "model calls")
    if before := _until(FEEDBACK_RETENTION_DAYS):
        yield from _emptied(CeMcpUserFeedback, before, "feedback")
    if before := _until(ACCESS_RETENTION_DAYS):
        yield from _emptied(CeAccessLog, before, "looks")
    yield from _replays(database_time() - REPLAYS_KEPT)


def _until(setting: settings.Setting[int]) -> datetime | None:
    days = settings.read(conf.load("SNAPSHOT").current(), setting).value
    return database_time() - timedelta(days=days) if days else None


def _steps(before: datetime) -> Iterator[Counts]:
    """Beginnings and ends of steps, which no index finds by their stage: looked for from where the last night ended."""
    last = looked_to(Kind.STEPS)
    while True:
        found = CeAudit.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "created_at", "stage")
        rows = list(found[:BATCH])
        old = [pk for pk, at, _ in rows if at < before]
        if not old:
            break
        removed = CeAudit.objects.filter(
            pk__in=[pk for pk, at, stage in rows if stage in _STEPS and at < before]
        ).purge()
        # Numbers rise with time but for the turns of one moment: those of the last batch are looked at again.
        last = rows[-1][0] if len(old) == len(rows) else old[0] - 1
        if removed:
            yield {"events of steps": removed}
        if len(old) < len(rows):
            break
    noted(Kind.STEPS, before, last)


def _prompts(before: datetime) -> Iterator[Counts]:
    """Found by their stage."""
    wanted = Q(stage__in=_PROMPTS)
    for stage in _PROMPTS:
        wanted |= Q(stage__startswith=f"{stage} (")
    while keys := list(CeAudit.objects.filter(wanted, created_at__lt=before).values_list("pk", flat=True)[:BATCH]):
        yield {"prompts": CeAudit.objects.filter(pk__in=keys).purge()}


def _chains_of_nothing(before: datetime) -> Iterator[Counts]:
    """Seals of additions, and beginnings of chains, of conversations that are there no more."""
    there = Exists(CeConversation.objects.filter(pk=OuterRef("conversation_id")))
    for model in (CeChainLink, CeChainBase):
        while keys := list(model.objects.filter(~there, created_at__lt=before).values_list("pk", flat=True)[:BATCH]):
            yield {"seals": _taken_out(model.objects.filter(pk__in=keys))}


def _replays(before: datetime) -> Iterator[Counts]:
    """Found by their index; their keys say nothing of time."""
    old = CeReplayJob.objects.filter(created_at__lt=before)
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        yield {"replays": _taken_out(CeReplayJob.objects.filter(pk__in=keys))}


def _taken_out(rows: Any) -> int:
    return int(rows.purge() if isinstance(rows, PurgedQuerySet) else rows.delete()[0])


def _emptied(model: Any, before: datetime, name: str) -> Iterator[Counts]:
    """Take out what is older, from the oldest on. Numbers rise with time, so that no index by time is needed."""
    last = 0
    while True:
        rows = list(model.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "created_at")[:BATCH])
        old = [pk for pk, at in rows if at < before]
        if not old:
            return
        removed = _taken_out(model.objects.filter(pk__in=old))
        last = rows[-1][0]
        yield {name: removed}


JOB = Job(
    "old_audit",
    "Remove old audit events and model calls",
    "Removes audit events and deciding rows older than AUDIT/RETENTION_DAYS (0 keeps all), events of steps, prompts, "
    "model calls and looks into the record by days of their own, results of replays after a week. On PostgreSQL, "
    "partitions are dropped whole.",
    Nightly(2),
    remove_old,
)
