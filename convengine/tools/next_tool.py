"""May the next tool follow the last one? (pipeline-2 4.4)"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from convengine.domain.catalogue.tools import ALLOWED_NEXT, GUARDRAIL_FAIL_CLOSED, TOOL_GUARDRAIL_ENABLED
from convengine.domain.session import Session
from convengine.domain.text import code
from convengine.domain.turn import Turn

Json = Any
#: Stands for the tool before the first.
START = "__START__"


def current_tool(observations: Sequence[Mapping[str, Json]]) -> str:
    """The tool of the last observation."""
    return str(observations[-1]["toolCode"]) if observations else START


def refusal(session: Session, turn: Turn, current: str, following: str | None) -> str | None:
    """Why `following` may not be called after `current`; null when it may."""
    if not turn.config(session, TOOL_GUARDRAIL_ENABLED):
        return None
    if not code(following):
        return "The planner names no tool."
    allowed = _allowed(turn.config(session, ALLOWED_NEXT), current)
    if not allowed:
        closed = turn.config(session, GUARDRAIL_FAIL_CLOSED)
        return f"Nothing is said of what may follow {current}, and GUARDRAIL_FAIL_CLOSED is set." if closed else None
    if any(fnmatchcase(code(following), _pattern(entry)) for entry in allowed):
        return None
    return f"{following} may not follow {current}; allowed: {', '.join(allowed)}."


def _allowed(entries: Mapping[str, Json], current: str) -> list[str]:
    """The list of the tool's own key, else of the key in upper case, else of those with `*` that fit, in order."""
    for key in (current, current.upper()):
        if isinstance(entries.get(key), list):
            return _texts(entries[key])
    wild = [key for key in entries if "*" in key and fnmatchcase(code(current), _pattern(key))]
    return [entry for key in wild for entry in _texts(entries[key])]


def _texts(value: Json) -> list[str]:
    return [str(entry) for entry in value if entry] if isinstance(value, list) else []


def _pattern(entry: str) -> str:
    """The entry as a pattern in which only `*` has a meaning."""
    return code(entry).replace("[", "[[]").replace("?", "[?]")
