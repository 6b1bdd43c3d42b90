"""The time that a turn has left, handed down to everything that it waits for, and the pauses that services want."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Seconds of a turn that nothing may wait for, so that the turn still ends with an answer; and at most this part.
_RESERVE, _LARGEST_PART = 1.0, 0.25

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
#: By name of a service, when it may be called again in this turn; null outside of turns.
_pauses: ContextVar[dict[str, float] | None] = ContextVar("pauses", default=None)


@contextmanager
def limit_waits(seconds: float) -> Iterator[None]:
    """While inside, everything that this turn waits for ends within this number of seconds."""
    reserve = min(_RESERVE, seconds * _LARGEST_PART)
    token, pauses = _deadline.set(time.monotonic() + seconds - reserve), _pauses.set({})
    try:
        yield
    finally:
        _deadline.reset(token)
        _pauses.reset(pauses)


def clip_seconds(seconds: float) -> float:
    """The seconds that a call may take: its own limit, or what the turn has left; never under a millisecond."""
    deadline = _deadline.get()
    return seconds if deadline is None else max(min(seconds, deadline - time.monotonic()), 0.001)


def note_pause(service: str, seconds: float) -> None:
    """Remember that a service wants no call for this number of seconds. Later calls of this turn respect it."""
    pauses = _pauses.get()
    if pauses is not None and seconds > 0:
        pauses[service] = time.monotonic() + seconds


def find_pause(service: str) -> float:
    """The seconds for which a service wants no call."""
    return max((_pauses.get() or {}).get(service, 0.0) - time.monotonic(), 0.0)
