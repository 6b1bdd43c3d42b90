"""The order in which the benchmark prints its goals."""

import pytest

from bench.__main__ import order_goals
from bench.report import Result


@pytest.mark.parametrize(
    ("goals", "ordered"),
    [
        (["P10", "P2", "P1"], ["P1", "P2", "P10"]),
        (["what-if", "P3"], ["P3", "what-if"]),
        (["size", "P2", "what-if", "P1"], ["P1", "P2", "size", "what-if"]),
        (["Px", "P", "P7"], ["P7", "Px", "P"]),
    ],
)
def test_numbered_goals_come_first_whatever_the_others_are_called(goals: list[str], ordered: list[str]) -> None:
    results = [Result(goal, "", 0, 0, 0) for goal in goals]
    assert [result.goal for result in order_goals(results)] == ordered
