"""Which tools may be used where the session stands: rows, and what servers offer there (pipeline-2 4.9, tables 4.3)."""

from convengine.domain import rows
from convengine.domain.session import Session
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.tools.servers import discovered, server_of, servers_in_scope


def tools_in_scope(session: Session, turn: Turn) -> list[rows.Tool]:
    """Rows and discovered tools, by group and code. A row wins over a discovered tool of its code."""
    found = {code(tool.tool_code): tool for tool in _rows(session, turn)}
    for server in servers_in_scope(session, turn):
        for tool in discovered(server, session, turn):
            found.setdefault(code(tool.tool_code), tool)
    return sorted(found.values(), key=lambda tool: (tool.tool_group, tool.tool_code))


def tool_in_scope(session: Session, turn: Turn, tool_code: str | None) -> rows.Tool | None:
    """The tool of that code where the session stands, a row or a tool of the server that the code names."""
    wanted = code(tool_code)
    for tool in _rows(session, turn):
        if code(tool.tool_code) == wanted:
            return tool
    server = server_of(turn.snapshot, tool_code or "")
    if server is None or server not in servers_in_scope(session, turn):
        return None
    return next((tool for tool in discovered(server, session, turn) if code(tool.tool_code) == wanted), None)


def _rows(session: Session, turn: Turn) -> tuple[rows.Tool, ...]:
    return turn.snapshot.in_scope(rows.Tool, session.intent, session.state)
