from pathlib import Path

import pytest

from convengine.server.observability.metric import Counter, Gauge, Histogram
from tests.convengine.server.observability.readings import read


def test_a_counter_counts_by_its_labels() -> None:
    counter = Counter("test_events", "Events.", ("kind",))
    counter.add("a")
    counter.add("a", amount=2)
    counter.add("b")

    assert (read(counter, "a", suffix="_total"), read(counter, "b", suffix="_total")) == (3, 1)


def test_a_gauge_is_set_and_moved() -> None:
    gauge = Gauge("test_waiting", "Waiting.")
    gauge.set(4)
    gauge.add(-1)

    assert read(gauge) == 3


def test_a_histogram_has_a_sum_and_a_count() -> None:
    histogram = Histogram("test_seconds", "Seconds.", ("outcome",))
    histogram.observe(0.2, "ok")
    histogram.observe(0.3, "ok")

    assert read(histogram, "ok", suffix="_sum") == pytest.approx(0.5)
    assert read(histogram, "ok", suffix="_count") == 2


def test_a_declared_series_is_zero_before_anything_happens() -> None:
    counter = Counter("test_failures", "Failures.", ("code",), (("X",),))
    counter.create_initial()

    assert read(counter, "X", suffix="_total") == 0
    assert ("X",) in counter._children


def test_a_number_that_cannot_be_stored_is_lost_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter("test_lost", "Lost.")
    monkeypatch.setattr(Counter, "_create", lambda self: (Path("/nowhere") / "x").read_text())

    counter.add()
    counter.add()
    assert [*counter._children] == [()]
