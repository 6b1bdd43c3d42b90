from typing import Any

import pytest

from convengine.engine.rules.conditions.operators import PATH_OPERATORS
from convengine.engine.rules.conditions.values import (
    MAX_DESCENDANTS,
    MAX_WORK,
    BudgetExceeded,
    EvaluationScope,
    are_equal,
    get_length,
    shorten_value,
)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (None, None, True),
        (None, "", False),
        (None, False, False),
        (None, 0, False),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        (5, 5.0, True),
        (5, "5", True),
        ("5.0", 5, True),
        ("+5", 5, True),
        ("5e0", 5, False),
        (" 5", 5, True),
        ("1_0", 10, False),
        ("٥", 5, True),
        ("9" * 50, 5, False),
        ("a", "A", False),
        ([1, "2"], ["1", 2], True),
        ([1], [1, 2], False),
        ({"a": [1]}, {"a": ["1"]}, True),
        ({"a": 1}, {"b": 1}, False),
        ([], {}, False),
        ([1], "1", False),
        (10**30, 10**30, True),
    ],
)
def test_values_are_equal_or_not_whichever_comes_first(left: Any, right: Any, expected: bool) -> None:
    assert are_equal(left, right, EvaluationScope({})) is expected
    assert are_equal(right, left, EvaluationScope({})) is expected


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(("left", "right"), [("five", 4), (None, 4), (True, 0), (True, False), ([2], [1])])
def test_what_is_no_number_has_no_order_with_one(op: str, left: Any, right: Any) -> None:
    assert not PATH_OPERATORS[op].test(left, right, EvaluationScope({}))


@pytest.mark.parametrize(("value", "size"), [("abc", 3), ([1], 1), ({}, 0), (5, None), (None, None)])
def test_texts_lists_and_objects_have_a_length(value: Any, size: int | None) -> None:
    assert get_length(value) == size


def test_work_ends_at_its_limit() -> None:
    scope = EvaluationScope({})
    scope.spend(MAX_WORK)
    with pytest.raises(BudgetExceeded):
        scope.spend(1)


def test_descendants_end_at_theirs() -> None:
    scope = EvaluationScope({})
    for _ in range(MAX_DESCENDANTS):
        scope.visit()
    with pytest.raises(BudgetExceeded):
        scope.visit()


def test_short_values_are_shown_as_they_are() -> None:
    for value in (None, True, 5, "x", [1, {"a": None}]):
        assert shorten_value(value) == value


def test_long_values_are_shown_by_their_beginning() -> None:
    assert shorten_value("x" * 500) == "x" * 199 + "…"
    assert str(shorten_value({"k": ["y" * 500]})).startswith('{"k":["yyy')
    assert len(str(shorten_value(list(range(10_000))))) == 200
