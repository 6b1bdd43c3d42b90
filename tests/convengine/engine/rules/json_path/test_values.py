from typing import Any

import pytest

from convengine.engine.rules.json_path.values import OPERATORS, are_equal, get_length


def nothing(work: int) -> None:
    """Work that nobody counts."""


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
        ("5e0", 5, True),
        (" 5", 5, False),
        ("1_0", 10, False),
        ("٥", 5, False),
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
    assert are_equal(left, right, nothing) is expected
    assert are_equal(right, left, nothing) is expected


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(("left", "right"), [("5", 4), (None, 4), (True, False), ([2], [1]), (None, None)])
def test_only_two_numbers_or_two_texts_have_an_order(op: str, left: Any, right: Any) -> None:
    assert not OPERATORS[op](left, right, nothing)


@pytest.mark.parametrize(("value", "size"), [("abc", 3), ([1], 1), ({}, 0), (5, None), (None, None)])
def test_texts_lists_and_objects_have_a_length(value: Any, size: int | None) -> None:
    assert get_length(value) == size
