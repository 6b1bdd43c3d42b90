"""The registry of what is installed, as far as a session may choose of it (sessions 8, R55)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from convengine.continuity.preferences import by_kind, problems
from convengine.domain.preferences import KNOWLEDGE_BASE
from convengine.errors import RequestInvalid
from convengine.executors.models import CeDocumentCollection
from convengine.sessions.clock import database_time
from convengine.wiring import models

#: What there is one of.
_BUILT_IN = ("built-in",)


def known(workspace_id: str | None) -> Mapping[str, Sequence[str]]:
    """The ids of each kind, in one workspace or in any. Collections that are out of date are not offered."""
    alive = Q(expires_at=None) | Q(expires_at__gt=database_time())
    here = Q() if workspace_id is None else Q(workspace_id=workspace_id)
    collections = CeDocumentCollection.objects.filter(alive & here).order_by("name").distinct()
    return {
        "model": sorted(models().names),
        "planner": _BUILT_IN,
        "intent_resolver": _BUILT_IN,
        KNOWLEDGE_BASE: list(collections.values_list("name", flat=True)),
        "tool_set": _BUILT_IN,
    }


def checked(wanted: Mapping[str, Any] | None, workspace_id: str) -> dict[str, str]:
    """The preferences of a request, by kind. Raises RequestInvalid naming what is known."""
    if not wanted:
        return {}
    if found := problems(wanted, known(workspace_id)):
        raise RequestInvalid(fields={f"preferences.{name}": [problem] for name, problem in found.items()})
    return by_kind(wanted)
