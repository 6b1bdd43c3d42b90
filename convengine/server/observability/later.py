"""Record numbers a moment later, many at once: in the middle of a request each would cost ten times as much, because
the processor has other things in its caches.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

#: The maximum number of values that wait to be recorded.
_MOST = 1000
_waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()


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
