"""Executors of tools on the tape: called once, and answering from the recording ever after (R32)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from convengine.codec import TOO_DEEP, plain, too_deep
from convengine.domain.ports import ServerPort, ServerTools, TimedToolPort, ToolAnswer
from convengine.domain.recording import Tape
from convengine.domain.rows import McpServer
from convengine.domain.session import Session

RESULT_TOO_DEEP = "RESULT_TOO_DEEP"


class TapedTools:
    """The tools port of one turn, in front of whichever executors the deployment has."""

    def __init__(self, tools: TimedToolPort, tape: Tape) -> None:
        self._tools = tools
        self._tape = tape

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Any],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        """Run a tool."""

        def call() -> dict[str, Any]:
            given = self._tools.run(tool_code, tool_group, args, session, within_ms)
            if too_deep(given.result):
                # What cannot be stored cannot be remembered, shown or replayed either.
                given = ToolAnswer(error_type=RESULT_TOO_DEEP, error_message=TOO_DEEP)
            answer: dict[str, Any] = plain(asdict(given))
            return answer

        request = plain({"tool": tool_code, "group": tool_group, "args": args})
        return ToolAnswer(**self._tape.ask("tool", request, call))


class TapedServers:
    """What MCP servers offer in one turn, in front of the process's sessions."""

    def __init__(self, servers: ServerPort, tape: Tape) -> None:
        self._servers = servers
        self._tape = tape

    def tools(self, server: McpServer) -> ServerTools:
        """The tools that a server lists."""
        request = {"server": server.name}
        return ServerTools(
            **self._tape.ask("server.tools", request, lambda: plain(asdict(self._servers.tools(server))))
        )
