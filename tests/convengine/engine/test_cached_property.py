"""A value is computed once for each instance, and nobody waits for another instance."""

import threading
from dataclasses import dataclass, field

import pytest

from convengine.engine.cached_property import cached_property


@dataclass(frozen=True)
class Report:
    """Counts how often its size was computed, and waits there if it must."""

    may_go_on: threading.Event
    computed: list[int] = field(default_factory=list)

    @cached_property
    def size(self) -> list[int]:
        """How large it is."""
        self.computed.append(1)
        assert self.may_go_on.wait(20)
        return [len(self.computed)]


def make_report(*, waits: bool = False) -> Report:
    event = threading.Event()
    if not waits:
        event.set()
    return Report(event)


def test_a_value_is_computed_once_and_kept_in_the_instance() -> None:
    report = make_report()

    assert report.size is report.size
    assert report.computed == [1]
    assert report.__dict__["size"] == [1]
    assert make_report().size is not report.size
    assert Report.size.__doc__ == "How large it is."


def test_an_instance_that_computes_stops_no_other_of_its_class() -> None:
    slow = make_report(waits=True)
    computing = threading.Thread(target=lambda: slow.size)
    computing.start()
    while not slow.computed:
        pass

    others = [threading.Thread(target=lambda: make_report().size) for _ in range(3)]
    for other in others:
        other.start()
        other.join(10)
    stopped = [other.is_alive() for other in others]
    slow.may_go_on.set()
    computing.join(10)

    assert stopped == [False, False, False]


def test_two_threads_at_once_get_the_same_value() -> None:
    report, got = make_report(waits=True), []
    threads = [threading.Thread(target=lambda: got.append(report.size)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while len(report.computed) < 2:
        pass

    report.may_go_on.set()
    for thread in threads:
        thread.join(10)

    assert got[0] is got[1]


def test_an_error_is_not_kept() -> None:
    class Source:
        attempts = 0

        @cached_property
        def value(self) -> int:
            self.attempts += 1
            if self.attempts == 1:
                raise ValueError("not yet")
            return self.attempts

    source = Source()
    with pytest.raises(ValueError, match="not yet"):
        _ = source.value

    assert (source.value, source.value) == (2, 2)
