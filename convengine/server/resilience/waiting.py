"""Bulkheads: a thread that waits for something outside gives its place to others, and few may wait at once.

A request that the server runs holds one of its running slots. Before it waits, it exchanges that for a waiting slot;
afterwards it takes a running slot again. In threads without running slots, such as those of another server or of jobs,
only the waiting slots count.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from django.db import connections

from convengine.server.database.sql import release_connections
from convengine.server.deployment import conf


class Overloaded(Exception):
    """Too many turns of this process wait already. Try again shortly."""

    def __init__(self) -> None:
        super().__init__((type(self).__doc__ or "").strip())


class RunningSlots(Protocol):
    """The slots of the threads that work."""

    def release(self) -> None:
        """Give the slot of this thread to the next request."""

    def acquire(self) -> None:
        """Take a slot again, ahead of new requests."""


#: The slots that this thread holds one of; None in threads without slots.
running_slots: ContextVar[RunningSlots | None] = ContextVar("running_slots", default=None)
_is_waiting: ContextVar[bool] = ContextVar("is_waiting", default=False)


class WaitingSlots:
    """How many threads of this process may wait for one kind of thing."""

    def __init__(self, setting: str) -> None:
        self._setting = setting
        self._lock = threading.Lock()
        self._used = 0
        self._most = 0
        self._refused = 0

    @contextmanager
    def hold(self, *, is_required: bool = True) -> Iterator[None]:
        """While inside, this thread waits: it holds no running slot and no database connection.

        Raises Overloaded at once when no waiting slot is free and one is required; otherwise the thread then keeps its
        running slot. A thread inside a transaction keeps its running slot,
        because others may wait for its locks. Code that a waiting thread calls needs no slot of its own.
        """
        if _is_waiting.get() or not self._take(is_required):
            yield
            return
        is_in_transaction = any(each.in_atomic_block for each in connections.all(initialized_only=True))
        slots = None if is_in_transaction else running_slots.get()
        token = _is_waiting.set(True)
        try:
            release_connections()
            if slots:
                slots.release()
            try:
                yield
            finally:
                if slots:
                    # Without a connection in hand: threads with slots may wait for all connections of the pool.
                    try:
                        release_connections()
                    finally:
                        slots.acquire()
        finally:
            _is_waiting.reset(token)
            with self._lock:
                self._used -= 1

    def _take(self, is_required: bool) -> bool:
        """Take a waiting slot; false if none is free."""
        with self._lock:
            if self._used < conf.get(self._setting):
                self._used += 1
                self._most = max(self._most, self._used)
                return True
            if is_required:
                self._refused += 1
                raise Overloaded()
            return False

    def count(self) -> Mapping[str, int]:
        """Slots: used now, used at most so far, allowed; and refused waits so far."""
        limit = conf.get(self._setting)
        return {"used": self._used, "most": self._most, "limit": limit, "refused": self._refused}


#: The slots for models; for tools, tasks, containers, MCP servers and memory; and for the leases of conversations.
for_models = WaitingSlots("MAX_WAITING_FOR_MODELS")
for_tools = WaitingSlots("MAX_WAITING_FOR_TOOLS")
for_leases = WaitingSlots("MAX_WAITING_FOR_LEASES")


def count_waiting() -> Mapping[str, Mapping[str, int]]:
    """The waiting slots of this process by kind, for metrics."""
    return {"models": for_models.count(), "tools": for_tools.count(), "leases": for_leases.count()}
