"""The port to external MCP servers, within the deployment's policy."""

import os
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Any

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.ports import ServerTools, ToolAnswer
from convengine.engine.turn.rows import McpServer
from convengine.server.mcp_client import faults
from convengine.server.mcp_client.faults import ServerFault
from convengine.server.mcp_client.policy import NotAllowed, Policy, Target
from convengine.server.mcp_client.pool import Pool
from convengine.server.mcp_client.worker import Worker, worker

Json = Any


def pool() -> Pool:
    """The sessions of this process, which outlive turns."""
    return _pool_of(os.getpid())


@cache
def _pool_of(pid: int) -> Pool:
    made = Pool()
    worker.at_end(made.close)
    return made


class McpServers:
    """External servers. Faults are answers; nothing is raised. `waiting` is called before servers are asked for
    tools.
    """

    def __init__(
        self,
        policy: Policy,
        sessions: Pool | None = None,
        loop: Worker = worker,
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        self._policy = policy
        self._waiting = waiting
        self._sessions = sessions
        self._loop = loop

    def tools(self, server: McpServer) -> ServerTools:
        async def ask(sessions: Pool, target: Target) -> list[Json]:
            return await sessions.tools(target, server.timeout_ms / 1000)

        self._waiting()
        try:
            return ServerTools(tuple(self._ask(server, ask)))
        except ServerFault as fault:
            return ServerTools(error_type=fault.code, error_message=fault.message)

    def call(self, server: McpServer, tool: str, args: Mapping[str, Json]) -> ToolAnswer:
        """The tool's result as JSON, within the row's time limit."""

        async def ask(sessions: Pool, target: Target) -> Json:
            return await sessions.call(target, tool, to_plain(dict(args)), server.timeout_ms / 1000)

        try:
            return ToolAnswer(self._ask(server, ask))
        except ServerFault as fault:
            return ToolAnswer(error_type=fault.code, error_message=f"MCP server {server.name}: {fault.message}")

    def _ask(self, server: McpServer, ask: Callable[[Pool, Target], Coroutine[Any, Any, Json]]) -> Json:
        try:
            target = self._policy.target(server)
        except NotAllowed as refused:
            raise ServerFault(faults.UNAVAILABLE, str(refused)) from None
        try:
            return self._loop.run(ask(self._sessions or pool(), target))
        except ServerFault:
            raise
        except Exception as error:
            # Whatever a server sends, it is the server's fault and never the turn's.
            raise ServerFault(faults.PROTOCOL_ERROR, faults.text_of(error)) from error
