"""The limits of requests that do not arrive, and of answers that are not read."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import random
from typing import Any

from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_scope_address

#: A transfer that takes longer counts as unfinished, in seconds: ordinary ones take milliseconds. At random, so that
#: transfers which began together are not refused together, while ordinary ones wait.
_GRACE, _SPREAD = 0.5, 0.5


@dataclass(frozen=True)
class TransferLimits:
    """How slow a transfer may be, and how many may be slow."""

    #: Seconds at the least, and bytes per second beyond.
    seconds: float
    rate: int
    #: Unfinished transfers of the process, of one address, and of one API key.
    unfinished: int
    unfinished_per_address: int
    unfinished_per_key: int
    #: Bytes of all bodies that the process holds.
    held_bytes: int

    @classmethod
    def read(cls) -> "TransferLimits":
        return cls(
            conf.get("TRANSFER_SECONDS"),
            conf.get("TRANSFER_BYTES_PER_SECOND"),
            conf.get("MAX_UNFINISHED"),
            conf.get("MAX_UNFINISHED_PER_ADDRESS"),
            conf.get("MAX_UNFINISHED_PER_KEY"),
            conf.get("MAX_HELD_BYTES"),
        )

    def list_by_name(self, caller: "Caller") -> Mapping[str | bytes, int]:
        """The unfinished transfers that are allowed for an address, a text, and for a key, which are bytes."""
        of_address: dict[str | bytes, int] = {caller.address: self.unfinished_per_address}
        return of_address | {caller.key: self.unfinished_per_key} if caller.key else of_address


@dataclass(frozen=True)
class Caller:
    """Who is on the other side of a transfer."""

    #: The address behind the trusted proxies.
    address: str
    #: The header `Authorization`, unchecked; blank without one. Only who knows a key can use up its limit.
    key: bytes = b""

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "Caller":
        return cls(find_scope_address(scope), dict(scope["headers"]).get(b"authorization", b""))


class TooManyUnfinished(Exception):
    """Too many requests of the process, of the address, or of the key, are unfinished."""


class Transfer:
    """One body on its way, which must not fall behind its deadline."""

    def __init__(self, limits: TransferLimits, timeout: asyncio.Timeout, started: float) -> None:
        self._limits = limits
        self._timeout = timeout
        self._started = started
        self._bytes = 0
        self.refused = False

    def advance(self, count: int) -> None:
        """Note that more bytes were transferred: the deadline moves."""
        self._bytes += count
        if not self.refused:
            seconds = self._limits.seconds + self._bytes / self._limits.rate
            self._timeout.reschedule(self._started + seconds)

    def refuse(self, now: float) -> None:
        """End it at once."""
        self.refused = True
        self._timeout.reschedule(now)


class Transfers:
    """The transfers of this process: how many are unfinished, by address and key, and the bytes that they hold."""

    def __init__(self, limits: TransferLimits) -> None:
        self._limits = limits
        self._unfinished = 0
        self._by_name: Counter[str | bytes] = Counter()
        self._held = 0
        self._counts = Counter[str]()

    def start(self, caller: Caller) -> "_Running":
        """A context for one transfer. Raises TimeoutError for a slow one, TooManyUnfinished for one too many."""
        return _Running(self, self._limits, caller)

    @contextmanager
    def hold_bytes(self) -> Iterator["HeldBytes"]:
        """While inside, the bytes that are added count as held."""
        held = HeldBytes(self, self._limits.held_bytes)
        try:
            yield held
        finally:
            self.change_held(-held.count)

    def change_held(self, count: int) -> int:
        """Count more or fewer bytes as held; returns how many are."""
        self._held += count
        return self._held

    def add_unfinished(self, caller: Caller) -> bool:
        """Count one more; false if that is too many."""
        limits = self._limits.list_by_name(caller)
        has_room = self._unfinished < self._limits.unfinished
        if not has_room or any(self._by_name[name] >= limit for name, limit in limits.items()):
            self._counts["refused"] += 1
            return False
        self._unfinished += 1
        self._by_name.update(limits.keys())
        return True

    def remove_unfinished(self, caller: Caller) -> None:
        self._unfinished -= 1
        for name in self._limits.list_by_name(caller):
            self._by_name[name] -= 1
            if not self._by_name[name]:
                del self._by_name[name]

    def note_timeout(self) -> None:
        self._counts["timed_out"] += 1

    def count(self) -> Mapping[str, int]:
        """Unfinished transfers now; those that were too slow, and those that were too many, so far; held bytes."""
        return {
            "unfinished": self._unfinished,
            "timed_out": self._counts["timed_out"],
            "refused": self._counts["refused"],
            "held_bytes": self._held,
        }


class HeldBytes:
    """The bytes of one body that the process holds."""

    def __init__(self, transfers: Transfers, limit: int) -> None:
        self._transfers = transfers
        self._limit = limit
        self.count = 0

    def add(self, count: int) -> None:
        """Raises TooManyUnfinished when the process holds too many bytes."""
        self.count += count
        if self._transfers.change_held(count) > self._limit:
            raise TooManyUnfinished


class _Running:
    """The time limit of one transfer, and its place among the unfinished ones."""

    def __init__(self, transfers: Transfers, limits: TransferLimits, caller: Caller) -> None:
        self._transfers = transfers
        self._limits = limits
        self._caller = caller
        self._counted = False

    async def __aenter__(self) -> Transfer:
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._timeout = asyncio.timeout_at(now + self._limits.seconds)
        await self._timeout.__aenter__()
        self._transfer = Transfer(self._limits, self._timeout, now)
        self._grace = self._loop.call_later(_GRACE + _SPREAD * random(), self._count)  # noqa: S311
        return self._transfer

    def _count(self) -> None:
        if self._transfers.add_unfinished(self._caller):
            self._counted = True
        else:
            self._transfer.refuse(self._loop.time())

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._grace.cancel()
        if self._counted:
            self._transfers.remove_unfinished(self._caller)
        try:
            await self._timeout.__aexit__(kind, error, trace)  # type: ignore[arg-type]
        except TimeoutError:
            if self._transfer.refused:
                raise TooManyUnfinished from None
            self._transfers.note_timeout()
            raise
