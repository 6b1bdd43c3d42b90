from pathlib import Path

import pytest

from convengine.server.observability import metric as module
from convengine.server.observability.metric import Counter, Gauge, Histogram, flush, record_later
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


def test_values_are_recorded_in_order_at_the_flush() -> None:
    flush()
    recorded: list[int] = []
    record_later(recorded.append, 1)
    record_later(recorded.append, 2)
    assert recorded == []

    flush()

    assert recorded == [1, 2]


def test_too_many_are_recorded_without_a_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    flush()
    recorded: list[int] = []
    monkeypatch.setattr(module, "_MOST", 3)
    for number in range(4):
        record_later(recorded.append, number)

    assert recorded == [0, 1, 2]
    flush()
