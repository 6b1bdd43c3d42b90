"""Whether the next tool may follow the last one (pipeline-2 4.4)."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from convengine.engine.steps.tools.settings import ALLOWED_NEXT, GUARDRAIL_FAIL_CLOSED, TOOL_GUARDRAIL_ENABLED
from convengine.engine.text.compare import code
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any
#: Stands for the tool before the first one.
START = "__START__"


def find_current_tool(observations: Sequence[Mapping[str, Json]]) -> str:
    return str(observations[-1]["toolCode"]) if observations else START


def find_refusal(session: Session, turn: Turn, current: str, following: str | None) -> str | None:
    """Why `following` may not be called after `current`, or null."""
    if not turn.config(session, TOOL_GUARDRAIL_ENABLED):
        return None
    if not code(following):
        return "The planner names no tool."
    allowed = _list_allowed(turn.config(session, ALLOWED_NEXT), current)
    if not allowed:
        closed = turn.config(session, GUARDRAIL_FAIL_CLOSED)
        return f"Nothing is said of what may follow {current}, and GUARDRAIL_FAIL_CLOSED is set." if closed else None
    if any(fnmatchcase(code(following), _escape_pattern(entry)) for entry in allowed):
        return None
    return f"{following} may not follow {current}; allowed: {', '.join(allowed)}."


def _list_allowed(entries: Mapping[str, Json], current: str) -> list[str]:
    """The list for the tool's own key, else for the key in upper case, else for matching keys with `*`, in order."""
    for key in (current, current.upper()):
        if isinstance(entries.get(key), list):
            return _list_texts(entries[key])
    wild = [key for key in entries if "*" in key and fnmatchcase(code(current), _escape_pattern(key))]
    return [entry for key in wild for entry in _list_texts(entries[key])]


def _list_texts(value: Json) -> list[str]:
    return [str(entry) for entry in value if entry] if isinstance(value, list) else []


def _escape_pattern(entry: str) -> str:
    """The entry as a pattern in which only `*` is special."""
    return code(entry).replace("[", "[[]").replace("?", "[?]")
