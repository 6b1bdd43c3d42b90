from typing import Any

import pytest

from convengine.engine.text.json_equality import contains_json, equal_json


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), ("a", "a"), (None, None), ([1, "a"], [1.0, "a"]), ({"a": [1]}, {"a": [1.0]}), ((1,), [1]), (True, True)],
)
def test_values_are_the_same(one: Any, other: Any) -> None:
    assert equal_json(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        ("a", "A"),
        ("1", 1),
        (True, 1),
        (0, False),
        (None, False),
        ([1], [1, 2]),
        ("ab", ["a", "b"]),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": True}, {"a": 1}),
    ],
)
def test_values_are_not_the_same(one: Any, other: Any) -> None:
    assert not equal_json(one, other)


def test_an_object_is_within_one_that_has_more() -> None:
    assert contains_json({"a": {"b": 1}}, {"a": {"b": 1.0, "c": 2}, "d": 3})
    assert contains_json({}, {"a": 1})


def test_an_object_is_not_within_one_that_lacks_a_part() -> None:
    assert not contains_json({"a": 1}, {"b": 1})
    assert not contains_json({"a": {"b": 1}}, {"a": {"b": 2}})
    assert not contains_json({"a": None}, {})


def test_lists_and_plain_values_are_within_only_what_is_the_same() -> None:
    assert contains_json([1], [1])
    assert not contains_json([1], [1, 2])
    assert not contains_json("a", "ab")
