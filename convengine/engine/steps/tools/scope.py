"""Which tools may be used: rows and tools of servers in the current scope, and what the planner may call next."""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import NamedTuple

from convengine.engine.forms.schema_validator import is_well_formed
from convengine.engine.steps.tools.settings import ALLOWED_NEXT, GUARDRAIL_FAIL_CLOSED, TOOL_GUARDRAIL_ENABLED
from convengine.engine.steps.tools.stages import MCP_SERVER_UNAVAILABLE
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RoutingDecision, ToolGroup
from convengine.engine.turn.params import APPROVAL_KEYS
from convengine.engine.turn.ports import ServerTools
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

_PREFIX = "mcp."
#: One function, as it is a part of the key of a memo.
_BY_NAME = attrgetter("name")


def list_tools_in_scope(session: Session, turn: Turn) -> list[rows.Tool]:
    """Rows and discovered tools, by group and code. A row wins over a discovered tool with its code."""
    tools = {code(tool.tool_code): tool for tool in _list_rows(session, turn)}
    for server in list_servers_in_scope(session, turn):
        for tool in list_offered_tools(server, _ask_server(server, session, turn)):
            tools.setdefault(code(tool.tool_code), tool)
    return sorted(tools.values(), key=lambda tool: (tool.tool_group, tool.tool_code))


class ToolLookup(NamedTuple):
    """The tool of a code in the current scope, or None; and the answer of its server if that could not be asked."""

    tool: rows.Tool | None = None
    failed: ServerTools | None = None


def find_tool_in_scope(session: Session, turn: Turn, tool_code: str | None) -> ToolLookup:
    """The tool with that code in the current scope: a row or a server's tool."""
    wanted = code(tool_code)
    for tool in _list_rows(session, turn):
        if code(tool.tool_code) == wanted:
            return ToolLookup(tool)
    server = find_server(turn.snapshot, tool_code or "")
    if server is None or server not in list_servers_in_scope(session, turn):
        return ToolLookup()
    listing = _ask_server(server, session, turn)
    tools = (tool for tool in list_offered_tools(server, listing) if code(tool.tool_code) == wanted)
    return ToolLookup(next(tools, None), listing if listing.error_type else None)


def _list_rows(session: Session, turn: Turn) -> tuple[rows.Tool, ...]:
    return turn.snapshot.in_scope(rows.Tool, session.intent, session.state)


def build_tool_code(server: rows.McpServer, name: str) -> str:
    return f"{_PREFIX}{server.name}.{name}"


def split_tool_name(tool_code: str) -> str:
    return tool_code.split(".", 2)[-1]


def find_server(snapshot: Snapshot, tool_code: str) -> rows.McpServer | None:
    """The enabled server that a code `mcp.<server>.<tool>` names. Returns None if there is none."""
    prefix, _, rest = tool_code.partition(".")
    name, dot, tool = rest.partition(".")
    if f"{prefix.lower()}." != _PREFIX or not (dot and tool):
        return None
    return next((row for row in snapshot.enabled_rows(rows.McpServer) if row.name.lower() == name.lower()), None)


def list_servers_in_scope(session: Session, turn: Turn) -> tuple[rows.McpServer, ...]:
    """The servers whose tools may be used in the current scope, by name."""
    if not turn.snapshot.rows(rows.McpServer):
        return ()
    return turn.snapshot.in_scope(rows.McpServer, session.intent, session.state, order=_BY_NAME)


def _ask_server(server: rows.McpServer, session: Session, turn: Turn) -> ServerTools:
    """What a server lists. That it cannot be asked is recorded once per turn."""
    listing = turn.ports.servers.tools(server)
    if listing.error_type is not None:
        turn.audit_once(
            session,
            MCP_SERVER_UNAVAILABLE,
            server.name,
            serverId=server.name,
            transport=server.transport,
            error=listing.error_message or listing.error_type,
        )
    return listing


def list_offered_tools(server: rows.McpServer, listing: ServerTools) -> Iterator[rows.Tool]:
    """A server's tools as rows, without those that its row does not allow."""
    allowed = server.allowed_tools_json
    for listed in listing.tools:
        name = listed.get("name")
        if name and (not isinstance(allowed, list) or name in allowed):
            yield _build_row(server, name, listed)


def _build_row(server: rows.McpServer, name: str, listed: Mapping[str, Json]) -> rows.Tool:
    """The row of a tool that a server lists. An unusable schema is left out."""
    schema, hints = listed.get("inputSchema"), listed.get("annotations") or {}
    return rows.Tool(
        tool_id=0,
        tool_code=build_tool_code(server, name),
        tool_group=ToolGroup.MCP_SERVER.value,
        intent_code=server.intent_code,
        state_code=server.state_code,
        description=listed.get("description"),
        # Without a hint, a tool counts as read-only, like a row without a value.
        read_only=hints.get("readOnlyHint", True) is not False,
        input_schema=schema if is_well_formed(schema) else None,
    )


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
