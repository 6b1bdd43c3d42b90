"""The status of a group of the inbox: what people decide about it, what they teach, and what the job finds."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction

from audit.inbox.collect import RECHECKED
from audit.models import CeInboxGroup
from convengine.engine.text.compare import storable
from convengine.server.database.sql import database_time

LONGEST_NOTE = 2_000
_STATUS = CeInboxGroup.Status


class InboxDecision(StrEnum):
    """What may be decided."""

    DISMISS = "dismiss"
    REOPEN = "reopen"
    ASSIGN = "assign"
    NOTE = "note"


class GroupGone(LookupError):
    """There is no such group."""

    def __str__(self) -> str:
        return "The group no longer exists. Its messages may be in another group now."


def decide(
    group_id: int, action: InboxDecision, by: str, *, user: Any = None, note: str = "", workspace: str | None = None
) -> tuple[CeInboxGroup, str]:
    """Change a group; returns it with what happened, in words. `user`: who gets an assigned group.

    The job that groups messages waits, so that neither writes over what the other did. Raises GroupGone.
    """
    within = {} if workspace is None else {"workspace_id": workspace}
    with transaction.atomic():
        group = CeInboxGroup.objects.select_for_update().filter(pk=group_id, **within).first()
        if group is None:
            raise GroupGone
        text = _apply(group, action, by, user, note)
        group.save()
    return group, text


def _apply(group: CeInboxGroup, action: InboxDecision, by: str, user: Any, note: str) -> str:
    if action is InboxDecision.DISMISS:
        group.status, group.decided_by, group.decided_at = _STATUS.DISMISSED, by, database_time()
        group.decision, group.decision_at, group.came_back = f"Dismissed by {by}", group.decided_at, False
        return "The group is dismissed. It comes back when such a message arrives again."
    if action is InboxDecision.REOPEN:
        group.status, group.decided_by, group.decided_at = _STATUS.OPEN, "", None
        group.decision, group.decision_at = f"Reopened by {by}", database_time()
        return "The group is open again."
    if action is InboxDecision.ASSIGN:
        group.assigned_to = None if user is None or group.assigned_to_id == user.pk else user
        return "The group is yours." if group.assigned_to else "The group belongs to nobody."
    group.note = storable(note)[:LONGEST_NOTE]
    return "The note is saved."


def note_taught(group: int, by: str, what: str, *, is_live: bool) -> None:
    """Note what somebody taught; if it is live, the group is done until the job finds that it is not.

    A group that no longer exists is no fault.
    """
    with transaction.atomic():
        row = CeInboxGroup.objects.select_for_update().filter(pk=group).first()
        if row is None:
            return
        row.decision, row.decision_at = f"{what} by {by}", database_time()
        if is_live:
            row.status = _STATUS.UNDERSTOOD if row.kind in RECHECKED else _STATUS.DISMISSED
            row.decided_by, row.decided_at, row.came_back = by, row.decision_at, False
        row.save()


def settle(group: CeInboxGroup, now: datetime, *, is_understood: bool) -> None:
    """Reopen a group with messages since it was decided; one whose leader `is_understood` today is done."""
    if group.status == _STATUS.OPEN:
        if not is_understood:
            group.decided_at = None
        elif group.decided_at is None:
            group.status, group.decided_at, group.came_back = _STATUS.UNDERSTOOD, now, False
    elif group.decided_at and group.last_at > group.decided_at:
        group.status, group.came_back = _STATUS.OPEN, True
        # A group that came back although its phrase is known stays open until somebody decides about it.
        group.decided_at = group.decided_at if is_understood else None
    elif group.status == _STATUS.UNDERSTOOD and not is_understood:
        group.status, group.decided_at = _STATUS.OPEN, None
