"""The kinds of metrics. A declared metric is data; the library is imported when something is recorded.

Recording never raises: a turn does not fail because a number cannot be written.
"""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

log = structlog.get_logger(__name__)
#: The maximum number of values that wait to be recorded.
_MOST = 1000
_waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()


@dataclass(frozen=True, eq=False)
class Metric(ABC):
    """A metric with its labels. The values of labels are few and known: no id, no path, no text of a user."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    #: Values of the labels that are shown with zero before anything happens, so that the first event is an increase.
    initial: Sequence[tuple[str, ...]] = ()
    _children: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def create_initial(self) -> None:
        """Show the initial series: those that are declared, or the only one of a metric without labels."""
        for values in self.initial if self.labels else ((),):
            self.show(*values)

    def show(self, *values: str) -> None:
        """Show the series of these values of the labels, with zero if nothing was recorded."""
        self._child(values)

    def _child(self, values: tuple[str, ...]) -> Any:
        """The library's object for these values of the labels; cached, because the library takes a lock for it."""
        child = self._children.get(values)
        return self._create_child(values) if child is None else child

    def _create_child(self, values: tuple[str, ...]) -> Any:
        with self._lock:
            if values not in self._children:
                try:
                    metric = self._children.get(_PARENT) or self._create()
                    self._children[_PARENT] = metric
                    self._children[values] = metric.labels(*values) if self.labels else metric
                except (OSError, ValueError) as error:
                    # The folder of the values is gone or full; the number is lost.
                    log.warning("metric cannot be recorded", metric=self.name, error=str(error))
                    self._children[values] = _Nothing()
            return self._children[values]

    @abstractmethod
    def _create(self) -> Any:
        """The library's object of this metric."""


#: The key of the library's metric beside its children; no label has this value.
_PARENT = ("\0",)


class Counter(Metric):
    """A number that only grows. Its declared name is without the `_total` of its exposed name."""

    def add(self, *values: str, amount: float = 1) -> None:
        """Count an event of these values of the labels."""
        self._child(values).inc(amount)

    def _create(self) -> Any:
        from prometheus_client import Counter as LibraryCounter

        return LibraryCounter(self.name, self.help, self.labels)


@dataclass(frozen=True, eq=False)
class Gauge(Metric):
    """A number that rises and falls.

    `mode` says how the processes of an installation make one value: `livesum`, `livemax`, or `liveall`, which shows
    each process under the label `pid`.
    """

    mode: str = "livesum"

    def set(self, value: float, *values: str) -> None:
        self._child(values).set(value)

    def add(self, amount: float, *values: str) -> None:
        """Raise or lower the value of this process."""
        self._child(values).inc(amount)

    def create_initial(self) -> None:
        """Create the initial series, unless each process shows its own value, which it does not have yet."""
        if self.mode == "livesum":
            super().create_initial()

    def _create(self) -> Any:
        from prometheus_client import Gauge as LibraryGauge

        mode: Any = self.mode
        return LibraryGauge(self.name, self.help, self.labels, multiprocess_mode=mode)


@dataclass(frozen=True, eq=False)
class Histogram(Metric):
    """A distribution of times in seconds."""

    buckets: tuple[float, ...] = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

    def observe(self, seconds: float, *values: str) -> None:
        """Count an event that took so long."""
        self._child(values).observe(seconds)

    def _create(self) -> Any:
        from prometheus_client import Histogram as LibraryHistogram

        return LibraryHistogram(self.name, self.help, self.labels, buckets=self.buckets)


class _Nothing:
    """Takes the calls for a series that cannot be stored."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


def record_later(record: Callable[..., None], *values: Any) -> None:
    """Call `record` with these values at the next flush. Thread-safe."""
    _waiting.append((record, values))
    if len(_waiting) >= _MOST:
        flush()


def flush() -> None:
    """Record everything that waits."""
    while _waiting:
        try:
            record, values = _waiting.popleft()
        except IndexError:
            # Another thread flushes too.
            return
        record(*values)
