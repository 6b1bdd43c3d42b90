"""Differences of documents, path by path."""

from typing import Any

import pytest

from config_admin.comparison.json_diff import path_changes

CASES: list[tuple[Any, Any, dict[str, list[tuple[str, str]]]]] = [
    ({"a": 1}, {"a": 1}, {}),
    ({"a": 1}, {"a": True}, {"a": [("out", "1"), ("in", "true")]}),
    ({"a": 1}, {"a": "1"}, {"a": [("out", "1"), ("in", '"1"')]}),
    ({"a": {"b": "big cat"}}, {"a": {"b": "big dog"}}, {"a.b": [("same", "big "), ("out", "cat"), ("in", "dog")]}),
    ({}, {"a": [1]}, {"a": [("in", "[\n  1\n]")]}),
    ({"a": "x"}, {}, {"a": [("out", '"x"')]}),
    ({"r": ["a", "b"]}, {"r": ["a", "c", "b"]}, {"r[1]": [("in", '"c"')]}),
    ({"r": ["a", "b"]}, {"r": ["b"]}, {"r[0]": [("out", '"a"')]}),
    ([{"n": 1}, 2], [{"n": 2}, 2], {"[0].n": [("out", "1"), ("in", "2")]}),
    ({"a": [1]}, {"a": {"b": 1}}, {"a": [("out", "[\n  1\n]"), ("in", '{\n  "b": 1\n}')]}),
    ({"with space": 1, "x.y": 1}, {}, {'"with space"': [("out", "1")], '"x.y"': [("out", "1")]}),
    ({"a": None}, {}, {"a": [("out", "null")]}),
    ([1], {"a": 1}, {"": [("out", "[\n  1\n]"), ("in", '{\n  "a": 1\n}')]}),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_each_place_that_differs_is_told_by_its_path(old: Any, new: Any, expected: Any) -> None:
    found = {change.path: [tuple(part) for part in change.segments] for change in path_changes(old, new)}

    assert found == expected
