from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from convengine.engine.text.json_diff import ABSENT, contains_json, diff_json, equal_json, format_path


def test_equal_values_have_no_differences() -> None:
    value = {"a": [1, {"b": None}], "c": {}}

    assert list(diff_json(value, {"c": {}, "a": [1, {"b": None}]})) == []


def test_values_are_compared_down_to_single_ones() -> None:
    before = {"b": [1, 2], "a": {"c": None}, "d": "x"}
    after = {"b": [1, 3, 4], "a": {"c": "y"}, "e": 1}

    assert list(diff_json(before, after)) == [
        (("b", 1), 2, 3),
        (("b", 2), ABSENT, 4),
        (("a", "c"), None, "y"),
        (("d",), "x", ABSENT),
        (("e",), ABSENT, 1),
    ]


def test_values_of_different_types_differ() -> None:
    for before, after in [(1, True), (1, 1.0), ("1", 1), ([], {}), (None, False)]:
        assert list(diff_json(before, after)) == [((), before, after)]


def test_keys_can_be_sorted_at_every_depth() -> None:
    paths = [path for path, _, _ in diff_json({"b": {"d": 1}, "a": 1}, {"b": {"c": 1}, "a": 2}, sort_keys=True)]

    assert paths == [("a",), ("b", "c"), ("b", "d")]


def test_the_items_of_lists_are_paired_as_the_caller_says() -> None:
    def pair_last(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
        yield len(after) - 1, before[-1], after[-1]

    assert list(diff_json({"a": [1, 2]}, {"a": [9, 9, 3]}, pair_items=pair_last)) == [(("a", 2), 2, 3)]


def test_a_path_is_written_with_dots_and_indexes() -> None:
    assert format_path(()) == ""
    assert format_path((0, "a", 1, "b c")) == "[0].a[1].b c"
    assert format_path(("a", "b"), str.upper) == "A.B"


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
