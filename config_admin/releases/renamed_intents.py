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
        following = _find_counterpart(renamed.code, "-")
        if following is None or following.code in seen:
            return None
        renamed = following
        seen.add(renamed.code)
    return renamed if renamed.code != old else None


def _find_counterpart(intent: str, sign: str) -> RenamedIntent | None:
    """The other code of a rename: of a deleted code its successor (sign -), of an added one its predecessor (sign +).

    Returns None if no release renamed the intent.
    """
    entry = _find_last_entry(intent, sign)
    if entry is None:
        return None
    model: Any = control_plane()[rows.Intent.table]
    same = {"config_version": entry.config_version, "created_at": entry.created_at}
    others = model.history.filter(history_type="+" if sign == "-" else "-", **same)
    code = _choose_successor(intent, list(others.values_list("intent_code", flat=True)))
    return RenamedIntent(code, entry.config_version) if code else None


def _find_last_entry(intent: str, sign: str) -> Any:
    model: Any = control_plane()[rows.Intent.table]
    return model.history.filter(intent_code=intent, history_type=sign).order_by("-history_id").first()


def list_older_codes(intent: str) -> list[str]:
    """The codes that an intent had before, the latest first."""
    codes, seen = [], {intent}
    while (older := _find_counterpart(intent, "+")) and older.code not in seen:
        intent = older.code
        codes.append(intent)
        seen.add(intent)
    return codes


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
    seen = {intent}
    while (following := _find_counterpart(intent, "-")) and following.code not in seen:
        intent = following.code
        seen.add(intent)
    deleted = _find_last_entry(intent, "-")
    return int(deleted.config_version) if deleted else None


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
