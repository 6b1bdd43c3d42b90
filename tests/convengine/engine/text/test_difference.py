"""What differs between two values and two texts; which values are equal."""

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from convengine.engine.text.difference import (
    ABSENT,
    EXCERPT_SIZE,
    MAX_PARTS,
    MAX_SAME,
    Difference,
    Segment,
    contains_json,
    diff_json,
    diff_texts,
    equal_json,
    format_path,
    list_words,
    pair_by_content,
)
from tests.pace import allow

CASES: list[tuple[Any, Any, dict[str, list[tuple[str, str]]]]] = [
    ({"a": 1}, {"a": 1}, {}),
    ({"a": 1}, {"a": True}, {"a": [("out", "1"), ("in", "true")]}),
    ({"a": 1}, {"a": "1"}, {"a": [("out", "1"), ("in", '"1"')]}),
    ({"a": {"b": "big cat"}}, {"a": {"b": "big dog"}}, {"a.b": [("same", "big "), ("out", "cat"), ("in", "dog")]}),
    ({}, {"a": [1]}, {"a": [("in", "[\n  1\n]")]}),
    ({"a": "x"}, {}, {"a": [("out", "x")]}),
    ({"r": ["a", "b"]}, {"r": ["a", "c", "b"]}, {"r[1]": [("in", "c")]}),
    ({"r": ["a", "b"]}, {"r": ["b"]}, {"r[0]": [("out", "a")]}),
    ([{"n": 1}, 2], [{"n": 2}, 2], {"[0].n": [("out", "1"), ("in", "2")]}),
    ({"a": [1]}, {"a": {"b": 1}}, {"a": [("out", "[\n  1\n]"), ("in", '{\n  "b": 1\n}')]}),
    ({"a": "1"}, {}, {"a": [("out", '"1"')]}),
    ({"a": None}, {"a": "open"}, {"a": [("out", "null"), ("in", "open")]}),
    ({"with space": 1, "^x$": 1}, {}, {'"^x$"': [("out", "1")], "with space": [("out", "1")]}),
    ({"a": None}, {}, {"a": [("out", "null")]}),
    ([1], {"a": 1}, {"": [("out", "[\n  1\n]"), ("in", '{\n  "a": 1\n}')]}),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_each_difference_has_its_path_and_marks(old: Any, new: Any, expected: Any) -> None:
    differences = diff_json(old, new, pair_items=pair_by_content, sort_keys=True)
    segments_by_path = {each.path_text: [tuple(part) for part in each.segments] for each in differences}

    assert segments_by_path == expected


def diff(old: str, new: str) -> list[tuple[str, str]]:
    return [tuple(segment) for segment in diff_texts(old, new)]


@pytest.mark.parametrize(
    "text", ["", "one two\n  three", "Dear {{ user.name | upper }}, {% if x %}a{% endif %}{# n #}{ {{", "a{{b}}c {"]
)
def test_the_words_of_a_text_are_the_text(text: str) -> None:
    assert "".join(list_words(text)) == text


@pytest.mark.parametrize("part", ["{{ ", "{% ", "{# ", "{"])
def test_the_words_of_a_text_with_brackets_that_nothing_closes_are_found_at_once(part: str) -> None:
    begun = time.process_time()

    assert "".join(list_words(part * 20_000)) == part * 20_000
    assert time.process_time() - begun < allow(0.5)


def test_an_expression_of_a_template_is_one_word() -> None:
    assert diff("Dear {{ first }} and all", "Dear {{ first | upper }} and all") == [
        ("same", "Dear "),
        ("out", "{{ first }}"),
        ("in", "{{ first | upper }}"),
        ("same", " and all"),
    ]


def test_in_texts_of_several_lines_only_different_words_are_marked() -> None:
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
def test_the_segments_give_back_both_texts(old: str, new: str) -> None:
    parts = diff_texts(old, new)

    assert "".join(segment.text for segment in parts if segment.kind != "in") == old
    assert "".join(segment.text for segment in parts if segment.kind != "out") == new


def test_very_long_texts_are_shown_whole() -> None:
    long = " x" * MAX_PARTS

    assert diff_texts(long, f"{long} y") == [Segment("out", long), Segment("in", f"{long} y")]


def test_long_unchanged_lines_are_shortened() -> None:
    (first, *_) = diff_texts("line\n" * 200 + "a\n", "line\n" * 200 + "b\n")

    assert first.kind == "same"
    assert len(first.text) < MAX_SAME + 10


def test_the_sides_are_excerpts_that_show_what_differs() -> None:
    long = "word " * 100
    before, after = Difference((), f"{long}old", f"{long}new").sides

    assert (before[-1], after[-1]) == (("out", "old"), ("in", "new"))
    assert before[0] == after[0]
    assert len(before[0].text) < EXCERPT_SIZE


def test_short_values_are_not_shortened() -> None:
    text = "The same words, more than half of an excerpt:"
    difference = Difference(("a",), f"{text} old", {"b": [1]})

    assert not difference.is_long
    assert difference.as_json("recorded", "replayed") == {
        "path": "a",
        "recorded": f"{text} old",
        "replayed": '{"b": [1]}',
    }


def test_the_paths_of_a_document_are_named_after_it() -> None:
    within = [Difference(("x", 0), 1, 2), Difference(("y",), 1, 2, "Why")]

    assert [part.label for part in Difference(("form",), {}, {}, "Form", within=within).flat] == [
        "Form: x[0]",
        "Form: Why",
    ]


def test_equal_values_have_no_differences() -> None:
    value = {"a": [1, {"b": None}], "c": {}}

    assert list(diff_json(value, {"c": {}, "a": [1, {"b": None}]})) == []


def test_values_are_compared_down_to_single_ones() -> None:
    before = {"b": [1, 2], "a": {"c": None}, "d": "x"}
    after = {"b": [1, 3, 4], "a": {"c": "y"}, "e": 1}

    assert list(diff_json(before, after)) == [
        Difference(("b", 1), 2, 3),
        Difference(("b", 2), ABSENT, 4),
        Difference(("a", "c"), None, "y"),
        Difference(("d",), "x", ABSENT),
        Difference(("e",), ABSENT, 1),
    ]


def test_values_of_different_types_differ() -> None:
    for before, after in [(1, True), (1, 1.0), ("1", 1), ([], {}), (None, False)]:
        assert list(diff_json(before, after)) == [Difference((), before, after)]


def test_keys_can_be_sorted_at_every_depth() -> None:
    differences = diff_json({"b": {"d": 1}, "a": 1}, {"b": {"c": 1}, "a": 2}, sort_keys=True)

    assert [each.path for each in differences] == [("a",), ("b", "c"), ("b", "d")]


def test_the_items_of_lists_are_paired_as_the_caller_says() -> None:
    def pair_last(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
        yield len(after) - 1, before[-1], after[-1]

    assert list(diff_json({"a": [1, 2]}, {"a": [9, 9, 3]}, pair_items=pair_last)) == [Difference(("a", 2), 2, 3)]


def test_a_path_is_written_with_dots_and_indexes() -> None:
    assert format_path(()) == ""
    assert format_path((0, "a", 1, "b c")) == "[0].a[1].b c"


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


#: The modules of the product that may use the library for comparing sequences, and why.
USERS_OF_DIFFLIB = {
    "convengine/engine/text/difference.py": "compares documents and texts, for all others",
    "convengine/engine/text/wording.py": "finds the known word that somebody probably meant",
}


def test_only_one_module_compares_documents_and_texts() -> None:
    root = Path(__file__).resolve().parents[4]
    files = (path for tree in ("convengine", "config_admin", "audit") for path in (root / tree).rglob("*.py"))
    users = {
        path.relative_to(root).as_posix()
        for path in files
        if re.search(r"^\s*(import|from) difflib\b", path.read_text(), re.MULTILINE)
    }

    assert users == USERS_OF_DIFFLIB.keys()


def test_only_one_fragment_marks_differences() -> None:
    templates = Path(__file__).resolve().parents[4] / "templates"
    texts = {path.relative_to(templates).as_posix(): path.read_text() for path in templates.rglob("*.html")}

    assert [name for name, text in texts.items() if "<del" in text or "<ins" in text] == ["convengine/segments.html"]
