import pytest

from convengine.engine.prompts.work import MAX_ITEMS, MAX_OUTPUT, MAX_WORK, RenderLimit, Work, limit_value, measure_cost


def test_work_ends_at_its_limit_and_is_never_given_back() -> None:
    work = Work()
    work.spend(MAX_WORK)
    work.spend(-MAX_WORK)
    with pytest.raises(RenderLimit):
        work.spend(1)


def test_a_value_costs_its_size() -> None:
    assert [measure_cost(value) for value in (5, None, "x", "x" * 2560, [1, 2], {"a": 1})] == [1, 1, 1, 11, 3, 2]


def test_values_that_grow_too_large_are_refused() -> None:
    assert limit_value("x" * MAX_OUTPUT)
    for value in ("x" * (MAX_OUTPUT + 1), list(range(MAX_ITEMS + 1))):
        with pytest.raises(RenderLimit):
            limit_value(value)
