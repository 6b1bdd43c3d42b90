import pytest

from convengine.server.observability import later
from convengine.server.observability.later import flush, record_later


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
    monkeypatch.setattr(later, "_MOST", 3)
    for number in range(4):
        record_later(recorded.append, number)

    assert recorded == [0, 1, 2]
    flush()
