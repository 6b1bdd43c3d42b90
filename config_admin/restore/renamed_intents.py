"""Intents that were renamed: who finds them under an older code, and conversations that go on under the new one (R136).

A rename is no mark of its own: one release deletes an intent and adds another one that was created at the same moment.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet

from config_admin.releases.content import control_plane
from config_admin.releases.tree import Content
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.turn import rows
from convengine.server.sessions.models import CeConversation


class RenamedIntent(NamedTuple):
    """The code of today, and the release of the last rename."""

    code: str
    config_version: int


def find_renamed_intent(old: str) -> RenamedIntent | None:
    """The present code of an intent that had another one; null for one that exists, or never did, or was deleted."""
    model: Any = control_plane()[rows.Intent.table]
    renamed, seen = RenamedIntent(old, 0), {old}
    while not model.objects.filter(pk=renamed.code).exists():
        following = _find_successor(model, renamed.code)
        if following is None or following.code in seen:
            return None
        renamed = following
        seen.add(renamed.code)
    return renamed if renamed.code != old else None


def _find_successor(model: Any, old: str) -> RenamedIntent | None:
    deleted = _find_deleted_row(model, old)
    if deleted is None:
        return None
    same = {"config_version": deleted.config_version, "created_at": deleted.created_at}
    added = list(model.history.filter(history_type="+", **same).values_list("intent_code", flat=True)[:2])
    return RenamedIntent(added[0], deleted.config_version) if len(added) == 1 else None


def find_deletion(intent: str) -> int | None:
    """The release that deleted an intent, also after renames; null if none did."""
    model: Any = control_plane()[rows.Intent.table]
    seen = {intent}
    while (following := _find_successor(model, intent)) and following.code not in seen:
        intent = following.code
        seen.add(intent)
    deleted = _find_deleted_row(model, intent)
    return int(deleted.config_version) if deleted else None


def _find_deleted_row(model: Any, intent: str) -> Any:
    return model.history.filter(intent_code=intent, history_type="-").order_by("-history_id").first()


def move_conversations(before: Mapping[Any, Content], after: Mapping[Any, Content | None]) -> None:
    """Open conversations of a renamed intent go on under its new code. Turns of the past keep the old one."""
    deleted = {row["created_at"]: pk for pk, row in before.items() if after[pk] is None}
    for new, row in after.items():
        if row is not None and new not in before and (old := deleted.get(row["created_at"])):
            filter_open_conversations(old).update(intent_code=new)


def filter_open_conversations(intent: str) -> QuerySet[CeConversation]:
    """The conversations that stand in an intent and are not over."""
    return CeConversation.objects.filter(intent_code=intent).exclude(lifecycle__in=CLOSED)
