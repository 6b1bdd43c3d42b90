"""The time that a turn has left, handed down to everything that it waits for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Seconds of a turn that nothing may wait for, so that the turn still ends with an answer; and at most this part.
_RESERVE, _LARGEST_PART = 1.0, 0.25

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def limit_waits(seconds: float) -> Iterator[None]:
    """While inside, everything that this turn waits for ends within so many seconds."""
    reserve = min(_RESERVE, seconds * _LARGEST_PART)
    token = _deadline.set(time.monotonic() + seconds - reserve)
    try:
        yield
    finally:
        _deadline.reset(token)


def clip_seconds(seconds: float) -> float:
    """The seconds that a call may take: its own limit, or what the turn has left; never under a millisecond."""
    deadline = _deadline.get()
    return seconds if deadline is None else max(min(seconds, deadline - time.monotonic()), 0.001)
