"""Renewing the leases of long turns: one background thread a process (R27).

A turn that is over within a third of its lease never hears of this.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

from convengine.sessions import lease as leases


class LeaseKeeper:
    """Knows the running turns of this process and renews the leases of those that last."""

    def __init__(self) -> None:
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, token: str) -> Iterator[None]:
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
        # Started at first use, so that a server that forks its workers has one in each of them.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            pause = leases.seconds() / 3
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
                leases.renew(token)
        except DatabaseError:
            # The turn finds out at its commit; the next round tries again.
            return
        finally:
            connection.close()


keeper = LeaseKeeper()
