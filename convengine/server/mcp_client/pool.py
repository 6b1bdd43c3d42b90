"""The sessions of this process: one per server, opened at first use, replaced when dead (pipeline-2 4.9)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from convengine.server.mcp_client import faults
from convengine.server.mcp_client.connection import Connection
from convengine.server.mcp_client.faults import ServerFault
from convengine.server.mcp_client.policy import Target

T = TypeVar("T")
Json = Any
#: How long a list of tools is cached, in seconds, unless the server reports a change.
MANIFEST_SECONDS = 600.0
#: An unused session ends after this time.
IDLE_SECONDS = 900.0
#: Pause after a failed opening, doubled with each failure in a row, and its maximum.
BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 1.0, 60.0


@dataclass
class _TargetEntry:
    """What the process knows about one target."""

    connection: Connection | None = None
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
        self._places: dict[Target, _TargetEntry] = {}
        self._clock = clock

    async def tools(self, target: Target, seconds: float) -> list[Json]:
        """The tools of a server, cached for a while. Raises ServerFault."""
        place = self._get_entry(target)
        fresh = place.tools is not None and self._clock() - place.tools_at < MANIFEST_SECONDS
        changed = place.connection is not None and place.connection.alive and place.connection.stale
        if place.tools is None or not fresh or changed:
            place.tools = await self._with(place, target, seconds, lambda found, left: found.tools(left))
            place.tools_at = self._clock()
        return place.tools

    async def call(self, target: Target, tool: str, args: dict[str, Json], seconds: float) -> Json:
        """A tool's result. Raises ServerFault."""
        place = self._get_entry(target)
        return await self._with(place, target, seconds, lambda found, left: found.call(tool, args, left))

    async def close(self) -> None:
        open_ones = [place.connection for place in self._places.values() if place.connection]
        self._places.clear()
        await asyncio.gather(*(connection.close() for connection in open_ones), return_exceptions=True)

    async def _with(
        self, place: _TargetEntry, target: Target, seconds: float, work: Callable[[Connection, float], Awaitable[T]]
    ) -> T:
        """Work on a live session. One that was dead before anything was done is replaced once."""
        until = self._clock() + seconds
        for attempt in (1, 2):
            connection, opened = await self._session(place, target, until - self._clock())
            try:
                return await work(connection, max(until - self._clock(), 0.001))
            except ServerFault as fault:
                if fault.code != faults.UNAVAILABLE or opened or attempt == 2:
                    raise
        raise AssertionError("unreachable")

    async def _session(self, place: _TargetEntry, target: Target, seconds: float) -> tuple[Connection, bool]:
        """A live session, and whether it was opened for this call. Raises ServerFault."""
        async with place.opening:
            found = place.connection
            if found is not None and found.alive and not found.retired:
                return found, False
            if found is not None:
                found.retire()
            now = self._clock()
            if now < place.not_before:
                wait = f"{place.not_before - now:.1f} s"
                raise ServerFault(faults.UNAVAILABLE, f"{place.last_fault} The next attempt is made in {wait}.")
            place.connection = connection = Connection(target)
            try:
                await connection.open(max(seconds, 0.001))
            except ServerFault as fault:
                self._record_failure(place, fault)
                raise
            place.failures, place.not_before = 0, 0.0
            return connection, True

    def _record_failure(self, place: _TargetEntry, fault: ServerFault) -> None:
        pause = min(BACKOFF_SECONDS * 2**place.failures, MAX_BACKOFF_SECONDS)
        place.connection = None
        place.failures += 1
        place.not_before = self._clock() + pause
        place.last_fault = fault.message.rstrip(".") + "."

    def _get_entry(self, target: Target) -> _TargetEntry:
        """The target's entry. Sessions with an older row of the server, or without users, end."""
        now = self._clock()
        for other, place in list(self._places.items()):
            if other != target and (other.name == target.name or now - place.used_at > IDLE_SECONDS):
                del self._places[other]
                if place.connection:
                    place.connection.retire()
        place = self._places.setdefault(target, _TargetEntry())
        place.used_at = now
        return place
