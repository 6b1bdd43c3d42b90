import pytest

from convengine.engine.rules.json_path.meter import MAX_DESCENDANTS, MAX_WORK, BudgetExceeded, Meter, shorten_value


def test_work_ends_at_its_limit() -> None:
    meter = Meter()
    meter.spend(MAX_WORK)
    with pytest.raises(BudgetExceeded):
        meter.spend(1)


def test_descendants_end_at_theirs() -> None:
    meter = Meter()
    for _ in range(MAX_DESCENDANTS):
        meter.visit()
    with pytest.raises(BudgetExceeded):
        meter.visit()


def test_short_values_are_shown_as_they_are() -> None:
    for value in (None, True, 5, "x", [1, {"a": None}]):
        assert shorten_value(value) == value


def test_long_values_are_shown_by_their_beginning() -> None:
    assert shorten_value("x" * 500) == "x" * 199 + "…"
    assert str(shorten_value({"k": ["y" * 500]})).startswith('{"k":["yyy')
    assert len(str(shorten_value(list(range(10_000))))) == 200
