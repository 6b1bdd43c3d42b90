from collections.abc import Iterator, Sequence
from typing import Any

from convengine.engine.text.json_diff import ABSENT, diff_json, format_path


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
