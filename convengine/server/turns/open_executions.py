"""Actions with an unknown end: record the dead turn, so that a person may decide."""

from collections.abc import Iterator
from datetime import timedelta

import structlog

from convengine.engine.turn.job import Counts, Every, Job
from convengine.server.confirmed_actions.review import is_turn_running
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CePendingActionExecution
from convengine.server.turns.dead_turns import recover_expired_lease

log = structlog.get_logger(__name__)
#: A younger claim belongs to a running turn.
_YOUNG = timedelta(minutes=1)


def report_open_executions() -> Iterator[Counts]:
    """Record the dead turns of open claims, and count the claims that wait for a person."""
    before = database_time() - _YOUNG
    claims = CePendingActionExecution.objects.filter(status="CLAIMED", started_at__lt=before)
    for claim in claims.select_related("conversation").order_by("id").iterator():
        if recover_expired_lease(str(claim.conversation_id)):
            yield {"dead turns recorded": 1}
        elif is_turn_running(claim):
            continue
        log.warning("action needs a decision", execution=claim.pk, action=claim.action_key)
        yield {"waiting for a person": 1}


JOB = Job(
    "open_executions",
    "Check open actions",
    ("Records turns that ended unexpectedly during an action. Counts the actions whose outcome a person must record."),
    Every(900),
    report_open_executions,
)
