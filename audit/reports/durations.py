"""Durations of turns and steps in ranges, from which counts tell the median and other quantiles."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import ceil

#: The preferred numbers R20: each range of durations is about an eighth wide.
_SERIES = (*(100, 112, 125, 140, 160, 180, 200, 224, 250, 280), *(315, 355, 400, 450, 500, 560, 630, 710, 800, 900))
#: The first millisecond of each range: single ones up to ten, then up to a quarter of an hour.
BOUNDS: Sequence[int] = (
    *range(10),
    *(number * scale // 100 for scale in (10, 100, 1_000, 10_000, 100_000) for number in _SERIES),
)


def find_bound(milliseconds: float) -> int:
    """The first millisecond of the range of a duration."""
    return BOUNDS[bisect_right(BOUNDS, max(milliseconds, 0)) - 1]


def find_quantile(durations: Mapping[int, int], share: float) -> int | None:
    """The duration that this share of some counted ranges does not exceed. Returns None if nothing was counted.

    Exact up to ten milliseconds; beyond, it lies in the right range, so it is off by an eighth at most.
    """
    rank = ceil(share * sum(durations.values()))
    for bound in sorted(durations):
        number = durations[bound]
        if rank <= number:
            index = bisect_right(BOUNDS, bound)
            width = (BOUNDS[index] if index < len(BOUNDS) else bound + 1) - bound
            return bound + int((width - 1) * (rank - 0.5) / number)
        rank -= number
    return None
