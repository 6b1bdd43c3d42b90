"""A circuit breaker for calls that failed repeatedly. Its state belongs to the process (pipeline-2 4.8)."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from convengine.engine.steps.tools.fault import ToolFault


class Circuit:
    """Opens after a number of failed calls in a row; after some time it lets one call try.

    Calls run in parallel: the lock is held only while they are counted.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    @property
    def state(self) -> str:
        """CLOSED, OPEN or HALF_OPEN, for editors."""
        if self._open_until is None:
            return "CLOSED"
        return "OPEN" if self._clock() < self._open_until else "HALF_OPEN"

    @property
    def failures(self) -> int:
        """Failed calls since the last success."""
        return self._failures

    @contextmanager
    def call(self, threshold: int, open_ms: int, counts: Callable[[ToolFault], bool]) -> Iterator[None]:
        """Around one call. Raises ToolFault CIRCUIT_OPEN at once while it is open.

        `counts` says whether a fault belongs to the other side; other faults do not matter.
        """
        probe = self._enter()
        try:
            yield
        except ToolFault as fault:
            self._leave(probe, counts(fault), threshold, open_ms)
            raise
        except BaseException:
            self._leave(probe, False, threshold, open_ms)
            raise
        with self._lock:
            self._failures, self._open_until, self._probing = 0, None, False

    def _enter(self) -> bool:
        with self._lock:
            if self._open_until is None:
                return False
            remaining = self._open_until - self._clock()
            if remaining > 0 or self._probing:
                wait = f"for {max(remaining, 0):.0f} s more" if remaining > 0 else "while another call tries"
                raise ToolFault("CIRCUIT_OPEN", f"This tool failed too often. It is not called {wait}.")
            self._probing = True
            return True

    def _leave(self, probe: bool, failed: bool, threshold: int, open_ms: int) -> None:
        with self._lock:
            if probe:
                self._probing = False
            if not failed:
                return
            self._failures += 1
            if probe or self._failures >= threshold:
                self._failures = 0
                self._open_until = self._clock() + open_ms / 1000


class Circuits:
    """The circuits of this process by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, Circuit] = {}

    def of(self, name: str) -> Circuit:
        with self._lock:
            return self._all.setdefault(name, Circuit())
