"""Intents that were renamed: who finds them under an older code, and conversations that go on under the new one.

A rename is no mark of its own: one release deletes an intent and adds another one that was created at the same moment.
The questions beside a flow are created with it and renamed with it; they keep their numbers.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet

from config_admin.releases.tree import Content
from config_admin.validation.stored_columns import control_plane
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.turn import rows
from convengine.server.sessions.models import CeConversation

_QUESTION_NUMBER = re.compile(r"_Q[1-9]\d{0,4}$")


class RenamedIntent(NamedTuple):
    """The code of today, and the release of the last rename."""

    code: str
    config_version: int


def find_renamed_intent(old: str) -> RenamedIntent | None:
    """The present code of an intent that had another one.

    Returns None for one that exists, or never did, or was deleted.
    """
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
    """The code that replaced a deleted code in the same release. Returns None if there is none."""
    deleted = _find_deleted_row(model, old)
    if deleted is None:
        return None
    same = {"config_version": deleted.config_version, "created_at": deleted.created_at}
    codes = model.history.filter(history_type="+", **same).values_list("intent_code", flat=True)
    new = _choose_successor(old, list(codes))
    return RenamedIntent(new, deleted.config_version) if new else None


def list_older_codes(intent: str) -> list[str]:
    """The codes that an intent had before, the latest first."""
    codes, seen = [], {intent}
    while (older := _find_predecessor(intent)) and older not in seen:
        codes.append(older)
        seen.add(older)
        intent = older
    return codes


def _find_predecessor(new: str) -> str | None:
    """The code that a new code replaced in the release that added it. Returns None if there is none."""
    model: Any = control_plane()[rows.Intent.table]
    added = model.history.filter(intent_code=new, history_type="+").order_by("-history_id").first()
    if added is None:
        return None
    same = {"config_version": added.config_version, "created_at": added.created_at}
    codes = model.history.filter(history_type="-", **same).values_list("intent_code", flat=True)
    return _choose_successor(new, list(codes))


def _choose_successor(old: str, codes: list[str]) -> str | None:
    """The other code of a rename among those of intents that were created at the same moment."""
    numbered = codes if len(codes) == 1 else [new for new in codes if _get_number(new) == _get_number(old)]
    return numbered[0] if len(numbered) == 1 else None


def _get_number(intent: str) -> str:
    """The end of the code that numbers a question beside a flow; blank for other intents."""
    match = _QUESTION_NUMBER.search(intent)
    return match[0] if match else ""


def find_deletion(intent: str) -> int | None:
    """The release that deleted an intent, also after renames. Returns None if none did."""
    model: Any = control_plane()[rows.Intent.table]
    seen = {intent}
    while (following := _find_successor(model, intent)) and following.code not in seen:
        intent = following.code
        seen.add(intent)
    deleted = _find_deleted_row(model, intent)
    return int(deleted.config_version) if deleted else None


def _find_deleted_row(model: Any, intent: str) -> Any:
    return model.history.filter(intent_code=intent, history_type="-").order_by("-history_id").first()


def list_renames(before: Mapping[Any, Content], after: Mapping[Any, Content | None]) -> dict[str, str]:
    """The new codes of intents that a change renames, by the old ones.

    The rows are given by code; `after` has None for a deleted one.
    """
    added: dict[Any, list[str]] = {}
    for new, row in after.items():
        if row is not None and new not in before:
            added.setdefault(row["created_at"], []).append(new)
    successors = {
        old: _choose_successor(old, added.get(row["created_at"], []))
        for old, row in before.items()
        if after[old] is None
    }
    return {old: successor for old, successor in successors.items() if successor}


def filter_open_conversations(intent: str) -> QuerySet[CeConversation]:
    """The open conversations whose current intent is this one, also those that stand under an older code until their
    next message.
    """
    codes = [intent, *list_older_codes(intent)]
    return CeConversation.objects.filter(intent_code__in=codes).exclude(lifecycle__in=CLOSED)
