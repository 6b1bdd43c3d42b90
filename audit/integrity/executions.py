"""What the events of a turn say of runs of actions."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from audit.record.events import parse_entries
from convengine.engine.steps.actions.stages import PENDING_ACTION_EXECUTED, PENDING_ACTION_FAILED
from convengine.server.sessions.models import CePendingActionExecution

EXECUTIONS = CePendingActionExecution._meta.db_table
_KEY = "executionId"
_STATUS: dict[str, str] = {PENDING_ACTION_EXECUTED: "EXECUTED", PENDING_ACTION_FAILED: "FAILED"}


class RecordedRun(NamedTuple):
    """A run in an event."""

    stage: str
    execution_id: int
    #: How it ended. None for a task of a rule, whose event does not tell.
    status: str | None
    #: True for a run of an earlier turn, which may have been removed with it.
    is_reused: bool


def list_runs(events: str | None) -> Iterator[RecordedRun]:
    """The runs of a turn; almost all turns have none, and are not parsed."""
    if not events or _KEY not in events:
        return
    for entry in filter(_is_event, parse_entries(events) or ()):
        stage, payload = str(entry.get("stage")), entry["payload"]
        if isinstance(payload.get(_KEY), int):
            yield RecordedRun(stage, payload[_KEY], _STATUS.get(stage), bool(payload.get("reused")))


def _is_event(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("payload"), dict)


def read_status(execution_id: int) -> str | None:
    """The status of a run by its id alone, for a session that went on in the next conversation.

    Returns None if there is no such run.
    """
    status: str | None = (
        CePendingActionExecution.objects.filter(pk=execution_id).values_list("status", flat=True).first()
    )
    return status
