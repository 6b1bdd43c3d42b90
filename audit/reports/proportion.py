"""Shares of turns with their uncertainty, and whether two of them differ by more than chance explains."""

from math import sqrt
from typing import NamedTuple

from convengine.server.interfaces.turn_reports import RateVerdict

#: A difference is not chance with at least this many turns on both sides, and standard errors between the shares.
FEWEST_TURNS, CLEAR = 30, 3.0
#: A difference of at least this many standard errors may be real.
_LIKELY = 2.0
#: The standard errors of an interval that contains the true share 19 times of 20.
_INTERVAL = 1.96


class Proportion(NamedTuple):
    """How many of some turns or conversations had something."""

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """The share in percent. Returns None of nothing."""
        return round(100 * self.part / self.whole, 1) if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval, in percent: the true share lies in it 19 times of 20."""
        if not self.whole:
            return 0.0, 100.0
        share, square = self.part / self.whole, _INTERVAL**2 / self.whole
        center = (share + square / 2) / (1 + square)
        half = _INTERVAL / (1 + square) * sqrt(share * (1 - share) / self.whole + square / 4 / self.whole)
        return round(100 * max(center - half, 0.0), 1), round(100 * min(center + half, 1.0), 1)


def count_standard_errors(after: Proportion, before: Proportion) -> float:
    """How many standard errors `after` is above `before`: the test of two proportions. 0 if a side has no turns."""
    if not after.whole or not before.whole:
        return 0.0
    pooled = (after.part + before.part) / (after.whole + before.whole)
    error = sqrt(pooled * (1 - pooled) * (1 / after.whole + 1 / before.whole))
    return (after.part / after.whole - before.part / before.whole) / error if error else 0.0


def judge_change(after: Proportion, before: Proportion, *, higher_is_worse: bool = True) -> RateVerdict:
    """Whether a share got worse or better, maybe or clearly; TOO_FEW if a side has fewer than FEWEST_TURNS.

    A higher share is worse, or with `higher_is_worse` false, better.
    """
    if min(after.whole, before.whole) < FEWEST_TURNS:
        return RateVerdict.TOO_FEW
    errors = count_standard_errors(after, before) * (1 if higher_is_worse else -1)
    if abs(errors) > CLEAR:
        return RateVerdict.WORSE if errors > 0 else RateVerdict.BETTER
    if abs(errors) > _LIKELY:
        return RateVerdict.MAYBE_WORSE if errors > 0 else RateVerdict.MAYBE_BETTER
    return RateVerdict.SAME
