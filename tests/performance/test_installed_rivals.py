"""Rivals with environments of their own: left out with a word, and goals only where they were measured."""

from contextlib import ExitStack
from unittest.mock import Mock

import pytest

from bench import throughput
from bench.report import Sample
from bench.rivals import installed


def test_rivals_that_are_not_installed_are_left_out_and_each_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CE_BENCH_LANGGRAPH", raising=False)
    monkeypatch.delenv("CE_BENCH_RASA", raising=False)
    lines: list[str] = []
    assert installed.start_installed(ExitStack(), Mock(), lines.append) == {}
    assert [line.split(":")[0] for line in lines] == ["LangGraph is left out", "Rasa is left out"]


@pytest.mark.parametrize(
    ("rivals", "goals"), [((), set()), ((installed.RASA,), {"P11"}), ((installed.LANGGRAPH_TURN,), {"graph"})]
)
def test_only_rivals_that_were_measured_have_goals(rivals: tuple[str, ...], goals: set[str]) -> None:
    names = ("base", *rivals, throughput.FULL)
    samples = {name: {level: [Sample(100, 1, 10, 20)] for level in throughput.LEVELS} for name in names}
    assert {result.goal for result in throughput.results(samples)} == {"P1", "P2", "P3", "P13"} | goals
