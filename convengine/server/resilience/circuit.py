"""A circuit breaker for calls that failed repeatedly. Its state belongs to the process."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import structlog

log = structlog.get_logger(__name__)


class CircuitOpen(Exception):
    """It failed too often, and is not called for some time. The message says for how long."""


class Circuit:
    """Opens after a number of failed calls in a row; after some time it lets one call try.

    Calls run in parallel: the lock is held only while they are counted.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, name: str = "") -> None:
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    @property
    def state(self) -> str:
        """CLOSED, OPEN or HALF_OPEN, for editors."""
        # Another thread may close it at this moment.
        open_until = self._open_until
        if open_until is None:
            return "CLOSED"
        return "OPEN" if self._clock() < open_until else "HALF_OPEN"

    def limit_calls(self, most: int) -> int:
        """How many calls may run now, of at most `most`: none while it is open, then one that tries."""
        state = self.state
        if state == "HALF_OPEN":
            return int(not self._probing)
        return most if state == "CLOSED" else 0

    @property
    def failures(self) -> int:
        """Failed calls since the last success."""
        return self._failures

    @contextmanager
    def call(self, threshold: int, open_ms: int) -> Iterator["Attempt"]:
        """Around one call, which notes its outcome. Raises CircuitOpen at once while it is open.

        An exception decides nothing: it may be a fault of the caller.
        """
        attempt = Attempt(self._enter())
        try:
            yield attempt
        finally:
            self._leave(attempt, threshold, open_ms)

    def _enter(self) -> bool:
        """Count a call in: true if it is the one that tries. Raises CircuitOpen."""
        with self._lock:
            if self._open_until is None:
                return False
            remaining = self._open_until - self._clock()
            if remaining > 0 or self._probing:
                wait = f"for {math.ceil(remaining)} s more" if remaining > 0 else "while another call tries"
                raise CircuitOpen(f"It failed too often. It is not called {wait}.")
            self._probing = True
            return True

    def _leave(self, attempt: "Attempt", threshold: int, open_ms: int) -> None:
        with self._lock:
            if attempt.is_probe:
                self._probing = False
            if attempt.failed is None:
                return
            was_open = self._open_until is not None
            if not attempt.failed:
                self._failures, self._open_until = 0, None
                if was_open:
                    log.warning("circuit closed", name=self._name)
                return
            self._failures += 1
            if attempt.is_probe or self._failures >= threshold:
                if not was_open:
                    log.warning("circuit opened", name=self._name, failures=self._failures, seconds=open_ms / 1000)
                self._failures = 0
                self._open_until = self._clock() + open_ms / 1000


class Attempt:
    """One call through a circuit."""

    def __init__(self, is_probe: bool) -> None:
        self.is_probe = is_probe
        #: Whether the other side failed; None if the call says nothing about it.
        self.failed: bool | None = None


class Circuits:
    """The circuits of this process by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, Circuit] = {}

    def of(self, name: str) -> Circuit:
        with self._lock:
            return self._all.setdefault(name, Circuit(name=name))

    def states(self) -> Mapping[str, str]:
        """The state of each circuit by name, for metrics."""
        with self._lock:
            return {name: circuit.state for name, circuit in self._all.items()}
