"""A check that answers in time, whatever hangs."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
#: Seconds for which a result is given again, so that nobody can load the database by asking.
_FRESH = 1.0


class BoundedCheck(Generic[T]):
    """Work in a thread of its own. While one run hangs, no second one starts."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self._name, self._work = name, work
        self._lock = threading.Lock()
        self._run: Future[T] | None = None
        self._ended = 0.0

    def start(self) -> "Future[T]":
        """The run that is under way or has just ended, or a new one."""
        with self._lock:
            run = self._run
            if run is None or (run.done() and time.monotonic() - self._ended > _FRESH):
                run = self._run = Future()
                threading.Thread(target=self._do, args=(run,), name=self._name, daemon=True).start()
            return run

    def _do(self, run: "Future[T]") -> None:
        try:
            result = self._work()
        except BaseException as error:
            self._ended = time.monotonic()
            run.set_exception(error)
        else:
            self._ended = time.monotonic()
            run.set_result(result)
