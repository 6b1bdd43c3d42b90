"""Differences of documents, path by path."""

from typing import Any

import pytest

from config_admin.comparison.json_diff import MAX_PARTS, MAX_SAME, Segment, list_path_changes, segments, words_of

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
    segments_by_path = {
        change.path: [tuple(part) for part in change.segments] for change in list_path_changes(old, new)
    }

    assert segments_by_path == expected


def diff(old: str, new: str) -> list[tuple[str, str]]:
    return [tuple(segment) for segment in segments(old, new)]


@pytest.mark.parametrize(
    "text", ["", "one two\n  three", "Dear {{ user.name | upper }}, {% if x %}a{% endif %}{# n #}{ {{", "a{{b}}c {"]
)
def test_the_words_of_a_text_are_the_text(text: str) -> None:
    assert "".join(words_of(text)) == text


def test_what_stands_between_braces_is_one_word() -> None:
    assert diff("Dear {{ first }} and all", "Dear {{ first | upper }} and all") == [
        ("same", "Dear "),
        ("out", "{{ first }}"),
        ("in", "{{ first | upper }}"),
        ("same", " and all"),
    ]


def test_in_texts_of_several_lines_only_the_words_that_differ_are_marked() -> None:
    assert diff("a\nb b\nc\n", "a\nb x\nc\n") == [
        ("same", "a\nb "),
        ("out", "b\n"),
        ("in", "x\n"),
        ("same", "c\n"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("a b\nc d\n", "a x\nnew\nc d e\n"), ("", "a\nb"), ("a\nb", ""), ("a\nb\nc", "c\nb\na"), ("x  y", "x y z")],
)
def test_the_stretches_give_back_both_texts(old: str, new: str) -> None:
    parts = segments(old, new)

    assert "".join(segment.text for segment in parts if segment.kind != "in") == old
    assert "".join(segment.text for segment in parts if segment.kind != "out") == new


def test_very_long_texts_are_shown_whole() -> None:
    long = " x" * MAX_PARTS

    assert segments(long, f"{long} y") == [Segment("out", long), Segment("in", f"{long} y")]


def test_long_stretches_of_lines_that_are_the_same_are_shortened() -> None:
    (first, *_) = segments("line\n" * 200 + "a\n", "line\n" * 200 + "b\n")

    assert first.kind == "same"
    assert len(first.text) < MAX_SAME + 10
