"""The intents of Dialogflow that users say only after others: by their parents, and by contexts."""

import re
from collections.abc import Sequence

from config_admin.contrib.come_over.outcomes import Role, find_role
from config_admin.contrib.come_over.project import Mapped


def get_response(intent: Mapped) -> Mapped:
    return next(iter(intent.get("responses") or ()), {})


def is_follow_up(intent: Mapped) -> bool:
    return bool(intent.get("contexts") or intent.get("parentId"))


def list_children(parent: Mapped, intents: Sequence[Mapped]) -> list[Mapped]:
    return [intent for intent in intents if _follows(intent, parent)]


def _follows(child: Mapped, parent: Mapped) -> bool:
    if child is parent or not is_follow_up(child):
        return False
    if child.get("parentId"):
        return bool(child["parentId"] == parent.get("id"))
    given = {(each.get("name") or "").lower() for each in get_response(parent).get("affectedContexts") or ()}
    return {context.lower() for context in child["contexts"]} <= given


def find_path(intent: Mapped, intents: Sequence[Mapped]) -> list[Mapped]:
    """The intents from the one that begins to this one; only this one if nothing says what it follows."""
    path = [intent]
    while parents := [each for each in intents if each not in path and _follows(path[0], each)]:
        path.insert(0, parents[0])
    return path


def find_follow_up_role(intent: Mapped) -> Role | None:
    """What a follow-up is for, by the end of its name or its action: `Book - yes`, `Book.Book-yes`."""
    if intent.get("fallbackIntent"):
        return Role.FALLBACK
    ends = (re.split(r"[-.]", name)[-1] for name in (intent["name"], get_response(intent).get("action") or ""))
    return next(filter(None, map(find_role, ends)), None)
