"""The lease under which a turn runs, and its renewal: one background thread a process (R27)."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connection

from convengine.engine.threads.settings import LEASE_SECONDS
from convengine.engine.turn import live_settings
from convengine.engine.turn.conversation import Conversation
from convengine.server.app_interfaces import configuration
from convengine.server.database.sql import dialect


@dataclass(frozen=True)
class Lease:
    """An acquired lease and everything that was read with it."""

    token: str
    turn_id: str
    turn_no: int
    conversation: Conversation
    #: The turn-lifetime params of the last committed turn.
    previous_turn: Mapping[str, Any]
    #: The configuration's head, to be pinned.
    head: str
    #: The database's time, which is the turn's time.
    now: datetime
    #: User text and answer of up to `past_limit` committed turns of the epoch, newest first.
    past: Sequence[tuple[str | None, Any]] = ()
    past_limit: int = 0
    created: bool = False
    #: The hash of the newest seal of the conversation's record.
    chain_head: bytes | None = None


def lease_seconds() -> int:
    """The duration of a lease without renewal, by the newest configuration of this process."""
    return live_settings.read(configuration().latest, LEASE_SECONDS).value


def renew_lease(token: str) -> bool:
    """Renew a lease. False when it was lost."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE ce_conversation SET lease_expires_at = {dialect().now(lease_seconds())} WHERE lease_token = %s",
            [dialect().uuid_param(token)],
        )
        return bool(cursor.rowcount == 1)


class LeaseRenewer:
    """Knows the running turns of this process and renews their leases."""

    def __init__(self) -> None:
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def renewing(self, token: str) -> Iterator[None]:
        """While inside, the lease is renewed."""
        with self._lock:
            self._running[token] = time.monotonic()
            self._ensure_thread()
        self._wake.set()
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(token, None)

    def _ensure_thread(self) -> None:
        # Started at first use, so that a server that forks its workers has one in each.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="lease-renewer", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            pause = lease_seconds() / 3
            time.sleep(pause)
            with self._lock:
                due = [token for token, since in self._running.items() if time.monotonic() - since >= pause]
                if not self._running:
                    self._wake.clear()
            if due:
                self._renew(due)

    @staticmethod
    def _renew(tokens: list[str]) -> None:
        try:
            for token in tokens:
                renew_lease(token)
        except DatabaseError:
            # The turn notices at its commit; the next round tries again.
            return
        finally:
            connection.close()


lease_renewer = LeaseRenewer()
