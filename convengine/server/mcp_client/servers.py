"""The port to external MCP servers, within the deployment's policy: pooled sessions in the loop of outgoing calls."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.ports import ServerTools, ToolAnswer
from convengine.engine.turn.rows import McpServer
from convengine.json_value import Json
from convengine.server.database.sql import release_connections
from convengine.server.deployment import conf
from convengine.server.mcp_client.connection import (
    PROTOCOL_ERROR,
    TIMEOUT,
    UNAVAILABLE,
    McpConnection,
    ServerFault,
    text_of,
)
from convengine.server.mcp_client.mending import McpCallResult
from convengine.server.mcp_client.policy import McpPolicy, McpTarget, NotAllowed
from convengine.server.outgoing.loop import outgoing
from convengine.server.resilience.time_left import clip_seconds
from convengine.server.resilience.waiting import Overloaded

T = TypeVar("T")
#: The stage of a result that was not as the protocol says.
_MENDED = "MCP_RESULT_MENDED"
#: How long a list of tools is cached, in seconds, unless the server reports a change.
MANIFEST_SECONDS = 600.0
#: An unused session ends after this time.
IDLE_SECONDS = 900.0
#: Seconds after a call's own limit in which it is ended from outside.
_MARGIN = 0.5
#: Seconds in which no process asks a server that could not be asked.
OUTAGE_SECONDS = 60
#: Pause after a failed opening, doubled with each failure in a row, and its maximum.
BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 60.0


@dataclass
class _TargetEntry:
    """What the process knows about one target."""

    connection: McpConnection | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    tools: list[Json] | None = None
    tools_at: float = 0.0
    used_at: float = 0.0
    failures: int = 0
    not_before: float = 0.0
    last_fault: str = ""


class Pool:
    """Sessions by target. All methods run in the background loop, except `clock`, which tests set."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries: dict[McpTarget, _TargetEntry] = {}
        self._clock = clock

    async def tools(self, target: McpTarget, seconds: float) -> list[Json]:
        """The tools of a server, cached for a while. Raises ServerFault."""
        entry = self._get_entry(target)
        fresh = entry.tools is not None and self._clock() - entry.tools_at < MANIFEST_SECONDS
        changed = entry.connection is not None and entry.connection.alive and entry.connection.stale
        if entry.tools is None or not fresh or changed:
            entry.tools = await self._with(
                entry, target, seconds, lambda connection, seconds_left: connection.tools(seconds_left)
            )
            entry.tools_at = self._clock()
        return entry.tools

    async def call(self, target: McpTarget, tool: str, args: dict[str, Json], seconds: float) -> McpCallResult:
        """A tool's result. Raises ServerFault."""
        entry = self._get_entry(target)
        return await self._with(
            entry, target, seconds, lambda connection, seconds_left: connection.call(tool, args, seconds_left)
        )

    def has_session(self, target: McpTarget) -> bool:
        """True when a call needs no new session."""
        entry = self._entries.get(target)
        return entry is not None and entry.connection is not None and entry.connection.alive

    async def close(self) -> None:
        open_ones = [entry.connection for entry in self._entries.values() if entry.connection]
        self._entries.clear()
        await asyncio.gather(*(connection.close() for connection in open_ones), return_exceptions=True)

    async def _with(
        self,
        entry: _TargetEntry,
        target: McpTarget,
        seconds: float,
        work: Callable[[McpConnection, float], Awaitable[T]],
    ) -> T:
        """Work on a live session. One that was dead before anything was done is replaced once."""
        until = self._clock() + seconds
        for attempt in (1, 2):
            connection, opened = await self._session(entry, target, until - self._clock())
            try:
                return await work(connection, max(until - self._clock(), 0.001))
            except ServerFault as fault:
                if fault.code != UNAVAILABLE or opened or attempt == 2:
                    raise
        raise AssertionError("unreachable")

    async def _session(self, entry: _TargetEntry, target: McpTarget, seconds: float) -> tuple[McpConnection, bool]:
        """A live session, and whether it was opened for this call. Raises ServerFault."""
        async with entry.opening:
            current = entry.connection
            if current is not None and current.alive and not current.retired:
                return current, False
            if current is not None:
                current.retire()
            now = self._clock()
            if now < entry.not_before:
                wait = f"{entry.not_before - now:.1f} s"
                raise ServerFault(UNAVAILABLE, f"{entry.last_fault} The next attempt is made in {wait}.")
            entry.connection = connection = McpConnection(target)
            try:
                await connection.open(max(seconds, 0.001))
            except ServerFault as fault:
                entry.connection = None
                entry.not_before = self._clock() + min(BACKOFF_SECONDS * 2**entry.failures, MAX_BACKOFF_SECONDS)
                entry.failures += 1
                entry.last_fault = fault.message.rstrip(".") + "."
                raise
            entry.failures, entry.not_before = 0, 0.0
            return connection, True

    def _get_entry(self, target: McpTarget) -> _TargetEntry:
        """The target's entry. Sessions with an older row of the server, or without users, end."""
        now = self._clock()
        for other, entry in list(self._entries.items()):
            if other != target and (other.name == target.name or now - entry.used_at > IDLE_SECONDS):
                del self._entries[other]
                if entry.connection:
                    entry.connection.retire()
        entry = self._entries.setdefault(target, _TargetEntry())
        entry.used_at = now
        return entry


def pool() -> Pool:
    """The sessions of this process, which outlive turns."""
    return _pool_of(os.getpid())


@cache
def _pool_of(pid: int) -> Pool:
    made = Pool()
    outgoing.at_end(made.close)
    return made


def read_policy() -> McpPolicy:
    """What rows of MCP servers may do in this deployment."""
    hosts, private_hosts = (
        frozenset(host.lower() for host in conf.get(name)) for name in ("MCP_HTTP_HOSTS", "MCP_PRIVATE_HOSTS")
    )
    return McpPolicy(frozenset(conf.get("MCP_STDIO_COMMANDS")), hosts, conf.get("MCP_SECRETS"), private_hosts)


class Outages(Protocol):
    """The servers that could not be asked lately, as all processes know them."""

    def remember(self, name: str, seconds: int) -> None: ...

    def is_remembered(self, name: str) -> bool: ...


class McpServers:
    """External servers. Faults are answers; nothing is raised. The thread holds `wait` while it asks for tools.

    `outages`: a server that gave no session or no list of tools is not asked again for OUTAGE_SECONDS, in no process.
    """

    def __init__(
        self,
        policy: McpPolicy,
        sessions: Pool | None = None,
        wait: Callable[[], AbstractContextManager[None]] = nullcontext,
        outages: Outages | None = None,
    ) -> None:
        self._outages = outages
        self._policy = policy
        self._wait = wait
        self._sessions = sessions

    def tools(self, server: McpServer) -> ServerTools:
        seconds = clip_seconds(server.timeout_ms / 1000)

        async def ask(sessions: Pool, target: McpTarget) -> list[Json]:
            return await sessions.tools(target, seconds)

        try:
            with self._wait():
                return ServerTools(tuple(self._ask(server, ask, seconds, is_list=True)))
        except Overloaded as error:
            return ServerTools(error_type=UNAVAILABLE, error_message=str(error))
        except ServerFault as fault:
            return ServerTools(error_type=fault.code, error_message=fault.message)

    def call(self, server: McpServer, tool: str, args: Mapping[str, Json]) -> ToolAnswer:
        """The tool's result as JSON, within the row's time limit."""

        seconds = clip_seconds(server.timeout_ms / 1000)

        async def ask(sessions: Pool, target: McpTarget) -> McpCallResult:
            return await sessions.call(target, tool, to_plain(dict(args)), seconds)

        try:
            document, warnings = self._ask(server, ask, seconds)
            mended = {"tool_code": f"mcp.{server.name}.{tool}", "warnings": list(warnings)}
            return ToolAnswer(document, stage_payloads={_MENDED: mended} if warnings else {})
        except ServerFault as fault:
            return ToolAnswer(error_type=fault.code, error_message=f"MCP server {server.name}: {fault.message}")

    def _ask(
        self,
        server: McpServer,
        ask: Callable[[Pool, McpTarget], Coroutine[Any, Any, T]],
        seconds: float,
        *,
        is_list: bool = False,
    ) -> T:
        """The answer of a server, unless it could not be asked lately. Raises ServerFault."""
        try:
            target = self._policy.target(server)
        except NotAllowed as refused:
            raise ServerFault(UNAVAILABLE, str(refused)) from None
        name, outages = f"MCP server {target!r}", self._outages
        if outages and not (self._sessions or pool()).has_session(target) and outages.is_remembered(name):
            raise ServerFault(UNAVAILABLE, f"It could not be asked within the last {OUTAGE_SECONDS} s.")
        release_connections()
        try:
            return self._run(target, ask, seconds)
        except ServerFault as fault:
            if outages and (is_list or fault.code == UNAVAILABLE):
                outages.remember(name, OUTAGE_SECONDS)
                release_connections()
            raise

    def _run(self, target: McpTarget, ask: Callable[[Pool, McpTarget], Coroutine[Any, Any, T]], seconds: float) -> T:
        try:
            # What the session says at its own limit is clearer.
            return outgoing.run(ask(self._sessions or pool(), target), seconds + _MARGIN)
        except ServerFault:
            raise
        except TimeoutError as error:
            raise ServerFault(TIMEOUT, f"No answer within {seconds * 1000:.0f} ms.") from error
        except Exception as error:
            # Whatever a server sends, it is the server's fault and never the turn's.
            raise ServerFault(PROTOCOL_ERROR, text_of(error)) from error
