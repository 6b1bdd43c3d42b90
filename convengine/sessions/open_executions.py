"""Actions whose end nobody saw: the turn is recorded as dead, so that a person may settle them (tables 6.7)."""

from collections.abc import Iterator
from datetime import timedelta

import structlog

from convengine.domain.job import Counts, Every, Job
from convengine.sessions.clock import database_time
from convengine.sessions.failed import bury
from convengine.sessions.models import CePendingActionExecution
from convengine.sessions.settle import still_runs

log = structlog.get_logger(__name__)
#: A claim that is younger belongs to a turn that runs.
_YOUNG = timedelta(minutes=1)


def look_after() -> Iterator[Counts]:
    """Record the dead turns behind open claims, and say how many claims wait for a person. Nothing is settled here."""
    before = database_time() - _YOUNG
    claims = CePendingActionExecution.objects.filter(status="CLAIMED", started_at__lt=before)
    for claim in claims.select_related("conversation").order_by("id").iterator():
        if bury(str(claim.conversation_id)):
            yield {"dead turns recorded": 1}
        elif still_runs(claim):
            continue
        log.warning("action waits for a person", execution=claim.pk, action=claim.action_key)
        yield {"waiting for a person": 1}


JOB = Job(
    "open_executions",
    "Look after open actions",
    "Records turns that died while an action ran, and counts the actions that wait for a person to settle them.",
    Every(900),
    look_after,
)
