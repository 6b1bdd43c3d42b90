"""Dotted paths into the context, as SET_CONTEXT and CLEAR_CONTEXT name fields."""

import re
from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.actions.contract import ActionValueError

Json = Any
#: Top-level branches that belong to the engine; `pending_slot` is for rules (settings 6).
ENGINE_BRANCHES = frozenset(
    {
        "pending_clarification", "intent_lock", "pending_action", "pendingAction", "pending_action_key",
        "pendingActionKey", "pending_action_runtime", "pending_action_ordinal", "approval", "container_data", "mcp",
        "memory", "session_units",
    }
)  # fmt: skip
_PATH = re.compile(r"(?:\$\.)?(?P<path>[^\W\d][\w\-]*(?:\.[\w\-]+)*)")


def read_context_path(text: str) -> str:
    """The path without a leading `$.`. Raises ActionValueError for an engine's branch or another form."""
    match = _PATH.fullmatch(text.strip())
    if match is None:
        raise ActionValueError("Name a context field, for example order.address.city.")
    path = match["path"]
    if (branch := path.split(".")[0]) in ENGINE_BRANCHES:
        raise ActionValueError(f"{branch} belongs to the engine.", "CONFLICT")
    return path


def set_at_path(context: Mapping[str, Json], path: str, value: Json) -> dict[str, Json]:
    """A copy of the context with a value at the path; missing objects on the way are made.

    Raises KeyError with the part of the path that is not an object.
    """
    first, _, rest = path.partition(".")
    if not rest:
        return {**context, first: value}
    inner = context.get(first)
    if inner is not None and not isinstance(inner, Mapping):
        raise KeyError(first)
    return {**context, first: set_at_path(inner or {}, rest, value)}


def clear_at_path(context: Mapping[str, Json], path: str) -> dict[str, Json]:
    """A copy of the context without the value at the path."""
    first, _, rest = path.partition(".")
    if not rest:
        return {key: value for key, value in context.items() if key != first}
    inner = context.get(first)
    return {**context, first: clear_at_path(inner, rest)} if isinstance(inner, Mapping) else dict(context)
