"""Numbers that a process reads of itself every few seconds, because nothing happens at the moment when they change."""

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path

import structlog
from django.db import connections

from convengine.server.observability import metrics
from convengine.server.observability.metric import flush

log = structlog.get_logger(__name__)
#: Seconds between two samples; Prometheus usually scrapes every 15 to 60.
_PAUSE = 5.0
_MEMORY = Path("/proc/self/statm")


class Sampler:
    """The thread of this process that takes samples."""

    def __init__(self) -> None:
        self._samples: list[Callable[[], None]] = [sample_memory, PoolSample(), flush]
        self._thread: threading.Thread | None = None

    def add(self, sample: Callable[[], None]) -> None:
        """Call `sample` with the others; it records what it reads, and must not wait."""
        self._samples.append(sample)

    def start(self) -> None:
        """Start the thread once. It ends with the process."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
            self._thread.start()
            atexit.register(flush)

    def take_samples(self) -> None:
        for sample in self._samples:
            try:
                sample()
            except Exception as error:
                log.warning("sample not taken", error=str(error), exc_info=error)

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self.take_samples()
            pause.wait(_PAUSE)


def sample_memory() -> None:
    """The resident memory of this process."""
    if _MEMORY.exists():
        pages = int(_MEMORY.read_text().split()[1])
        metrics.PROCESS_MEMORY.set(pages * os.sysconf("SC_PAGE_SIZE"))


class PoolSample:
    """The state of the connection pool, and the growth of its totals since the last sample."""

    def __init__(self) -> None:
        self._waited_ms = self._errors = 0

    def __call__(self) -> None:
        pool = getattr(connections["default"], "pool", None)
        if pool is None:
            return
        stats = pool.get_stats()
        metrics.POOL_CONNECTIONS.set(stats.get("pool_size", 0))
        metrics.POOL_WAITING.set(stats.get("requests_waiting", 0))
        waited_ms, errors = stats.get("requests_wait_ms", 0), stats.get("requests_errors", 0)
        metrics.POOL_WAIT_SECONDS.add(amount=max(waited_ms - self._waited_ms, 0) / 1000)
        metrics.POOL_ERRORS.add(amount=max(errors - self._errors, 0))
        self._waited_ms, self._errors = waited_ms, errors


sampler = Sampler()
