"""Limits in seconds were set on a machine of an ordinary pace; a slower or busier one gets as much more time."""

import time

#: Seconds that the loop takes where the limits were set.
_ORDINARY_SECONDS = 0.05
_ROUNDS, _COUNT = 5, 1_000_000


def _loop() -> float:
    began = time.perf_counter()
    left = _COUNT
    while left:
        left -= 1
    return time.perf_counter() - began


def allow(limit: float) -> float:
    """The limit, multiplied by how much slower than ordinary this machine is just now. It never becomes smaller."""
    return limit * max(1.0, sorted(_loop() for _ in range(_ROUNDS))[_ROUNDS // 2] / _ORDINARY_SECONDS)
