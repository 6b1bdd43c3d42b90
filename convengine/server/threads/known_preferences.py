"""The installed options that a session may prefer."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from convengine.engine.errors import RequestInvalid
from convengine.engine.threads.preferences import find_problems, map_by_kind
from convengine.engine.turn.session import KNOWLEDGE_BASE
from convengine.server.database.sql import database_time
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.wiring import models

#: What there is one of.
_BUILT_IN = ("built-in",)


def list_known_preferences(workspace_id: str | None) -> Mapping[str, Sequence[str]]:
    """The ids of each kind, in one workspace or in any, without collections that are out of date."""
    alive = Q(expires_at=None) | Q(expires_at__gt=database_time())
    in_workspace = Q() if workspace_id is None else Q(workspace_id=workspace_id)
    collections = CeDocumentCollection.objects.filter(alive & in_workspace).order_by("name").distinct()
    return {
        "model": sorted(models().names),
        "planner": _BUILT_IN,
        "intent_resolver": _BUILT_IN,
        KNOWLEDGE_BASE: list(collections.values_list("name", flat=True)),
        "tool_set": _BUILT_IN,
    }


def check_preferences(wanted: Mapping[str, Any] | None, workspace_id: str) -> dict[str, str]:
    """The valid preferences of a request, by kind. Raises RequestInvalid naming the known ones."""
    if not wanted:
        return {}
    if problems := find_problems(wanted, list_known_preferences(workspace_id)):
        raise RequestInvalid(fields={f"preferences.{name}": [problem] for name, problem in problems.items()})
    return map_by_kind(wanted)
