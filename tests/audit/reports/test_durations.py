"""Quantiles from ranges of durations: near the true ones."""

from collections import Counter
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from audit.reports.durations import BOUNDS, find_bound, find_quantile


def test_the_ranges_rise_and_have_round_limits() -> None:
    assert list(BOUNDS) == sorted(set(BOUNDS))
    assert {0, 1, 10, 100, 1_000, 2_000, 5_000, 10_000} <= set(BOUNDS)


@given(st.lists(st.integers(0, 900_000), min_size=1, max_size=50), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_off_by_an_eighth_at_most(durations: list[int], share: float) -> None:
    true = sorted(durations)[ceil(share * len(durations)) - 1]
    quantile = find_quantile(Counter(map(find_bound, durations)), share)
    assert quantile is not None
    assert abs(quantile - true) <= true / 7.9


def test_nothing_has_no_quantile() -> None:
    assert find_quantile({}, 0.5) is None


def test_a_duration_beyond_the_last_range_is_in_it() -> None:
    assert find_quantile({find_bound(10_000_000): 3}, 0.95) == BOUNDS[-1]
