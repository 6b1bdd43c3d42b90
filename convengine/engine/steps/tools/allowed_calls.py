"""Which calls the planner may make: what may follow the last tool, and when a tool may change something."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from convengine.engine.steps.tools.settings import ALLOWED_NEXT, GUARDRAIL_FAIL_CLOSED, TOOL_GUARDRAIL_ENABLED
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RoutingDecision
from convengine.engine.turn.params import APPROVAL_KEYS
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json


def find_obstacle(session: Session, tool: rows.Tool, called: Collection[tuple[str, str]]) -> tuple[str, str] | None:
    """Why a tool that changes something may not run now, as code and text. Returns None if the tool may run.

    `called`: the calls of the turn so far, by code and arguments.
    """
    if tool.read_only:
        return None
    if not is_confirmed(session):
        return "CONFIRMATION_REQUIRED", f"{tool.tool_code} changes something; the user has to confirm it first."
    if code(tool.tool_code) in {tool_code for tool_code, _ in called}:
        return "ALREADY_RAN", f"{tool.tool_code} has run in this turn already."
    return None


def is_confirmed(session: Session) -> bool:
    """True when the user confirmed, or the caller approved, this turn's action."""
    approved = any(truthy(session.params.get(name)) for name in APPROVAL_KEYS)
    return approved or code(session.routing.routing_decision) == RoutingDecision.PROCEED_CONFIRMED


def find_refusal(session: Session, turn: Turn, current: str, following: str | None) -> str | None:
    """Why the tool `following` may not be called after `current`. Returns None if it may."""
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
