"""Differences of texts, word by word."""

import pytest

from config_admin.comparison.word_diff import MAX_PARTS, MAX_SAME, Segment, segments, words_of


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
    found = segments(old, new)

    assert "".join(segment.text for segment in found if segment.kind != "in") == old
    assert "".join(segment.text for segment in found if segment.kind != "out") == new


def test_very_long_texts_are_shown_whole() -> None:
    long = " x" * MAX_PARTS

    assert segments(long, f"{long} y") == [Segment("out", long), Segment("in", f"{long} y")]


def test_long_stretches_of_lines_that_are_the_same_are_shortened() -> None:
    (first, *_) = segments("line\n" * 200 + "a\n", "line\n" * 200 + "b\n")

    assert first.kind == "same"
    assert len(first.text) < MAX_SAME + 10
