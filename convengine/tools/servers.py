"""Tools of external MCP servers: their codes, and rows made of what servers list (pipeline-2 4.9)."""

from collections.abc import Iterator, Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import ToolGroup
from convengine.domain.ports import ServerTools
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.schemas.status import well_formed

Json = Any
_PREFIX = "mcp."


def code_of(server: rows.McpServer, name: str) -> str:
    """The tool code of a server's tool."""
    return f"{_PREFIX}{server.name}.{name}"


def tool_name(tool_code: str) -> str:
    """The tool's own name: all behind the server's, which has no dots."""
    return tool_code.split(".", 2)[-1]


def server_of(snapshot: Snapshot, tool_code: str) -> rows.McpServer | None:
    """The enabled server that a code names; null for other codes."""
    prefix, _, rest = tool_code.partition(".")
    name, dot, tool = rest.partition(".")
    if f"{prefix.lower()}." != _PREFIX or not (dot and tool):
        return None
    return next((row for row in snapshot.enabled(rows.McpServer) if row.name.lower() == name.lower()), None)


def servers_in_scope(session: Session, turn: Turn) -> tuple[rows.McpServer, ...]:
    """The servers whose tools may be used where the session stands, by name."""
    if not turn.snapshot.rows(rows.McpServer):
        return ()
    return turn.snapshot.in_scope(rows.McpServer, session.intent, session.state, order=lambda row: row.name)


def discovered(server: rows.McpServer, session: Session, turn: Turn) -> Iterator[rows.Tool]:
    """The tools of a server that its row allows, as rows; none when it cannot be asked, which is told once a turn."""
    found = turn.ports.servers.tools(server)
    if found.error_type is not None:
        _tell_unavailable(server, found, session, turn)
    return offered_by(server, found)


def offered_by(server: rows.McpServer, found: ServerTools) -> Iterator[rows.Tool]:
    """What a server lists, as rows, without what its own row does not allow."""
    allowed = server.allowed_tools_json
    for listed in found.tools:
        name = listed.get("name")
        if name and (not isinstance(allowed, list) or name in allowed):
            yield _row(server, name, listed)


def _tell_unavailable(server: rows.McpServer, found: ServerTools, session: Session, turn: Turn) -> None:
    turn.tell_once(
        session,
        Stage.MCP_SERVER_UNAVAILABLE,
        server.name,
        serverId=server.name,
        transport=server.transport,
        error=found.error_message or found.error_type,
    )


def _row(server: rows.McpServer, name: str, listed: Mapping[str, Json]) -> rows.Tool:
    schema, hints = listed.get("inputSchema"), listed.get("annotations") or {}
    return rows.Tool(
        tool_id=0,
        tool_code=code_of(server, name),
        tool_group=ToolGroup.MCP_SERVER.value,
        intent_code=server.intent_code,
        state_code=server.state_code,
        description=listed.get("description"),
        # A server that says nothing of it is taken like a row that says nothing of it.
        read_only=hints.get("readOnlyHint", True) is not False,
        input_schema=schema if well_formed(schema) else None,
    )
