"""Shares with their uncertainty: Wilson's interval, and the test of two proportions."""

import pytest

from audit.reports.proportion import Proportion, count_standard_errors, judge_change
from convengine.server.interfaces.turn_reports import RateVerdict


@pytest.mark.parametrize(
    ("count", "turns", "low", "high"),
    # The values of Wilson's interval as tables give them.
    [(0, 10, 0.0, 27.8), (1, 10, 1.8, 40.4), (5, 10, 23.7, 76.3), (10, 10, 72.2, 100.0), (30, 1000, 2.1, 4.3)],
)
def test_the_interval_is_wilsons(count: int, turns: int, low: float, high: float) -> None:
    assert Proportion(count, turns).interval == (low, high)


def test_without_turns_nothing_is_known() -> None:
    assert (Proportion(0, 0).share, Proportion(0, 0).interval) == (None, (0.0, 100.0))
    assert count_standard_errors(Proportion(0, 0), Proportion(1, 2)) == 0


@pytest.mark.parametrize(
    ("missed", "turns", "missed_before", "turns_before", "verdict"),
    [
        (20, 100, 20, 100, RateVerdict.SAME),
        (24, 100, 20, 100, RateVerdict.SAME),
        (34, 100, 20, 100, RateVerdict.MAYBE_WORSE),
        (60, 100, 20, 100, RateVerdict.WORSE),
        (20, 29, 0, 1000, RateVerdict.TOO_FEW),
        (0, 100, 50, 100, RateVerdict.BETTER),
        (8, 100, 20, 100, RateVerdict.MAYBE_BETTER),
        (0, 100, 0, 100, RateVerdict.SAME),
        (100, 100, 100, 100, RateVerdict.SAME),
    ],
)
def test_a_difference_by_chance_is_none(
    missed: int, turns: int, missed_before: int, turns_before: int, verdict: RateVerdict
) -> None:
    assert judge_change(Proportion(missed, turns), Proportion(missed_before, turns_before)) is verdict


def test_more_of_something_good_is_better() -> None:
    assert judge_change(Proportion(60, 100), Proportion(20, 100), higher_is_worse=False) is RateVerdict.BETTER
