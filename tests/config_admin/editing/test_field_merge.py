"""Two changes of one text or document, brought together."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config_admin.editing.field_merge import combine_json, combine_texts

WORDS = st.lists(st.sampled_from(["a", "b", "c", "one", "two"]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "expected"),
    [
        ("one two three", "ONE two three", "one two THREE", "ONE two THREE"),
        ("one two three", "one two three", "one two", "one two"),
        ("one two three", "one two three four", "zero one two three", "zero one two three four"),
        ("Call us today.", "Call us now or today.", "Ring us today.", "Ring us now or today."),
        ("Hello.", "Good morning.", "Good evening.", "Good morning. Good evening."),
        ("one\ntwo\nthree", "one\ntwo and a half\nthree", "zero\none\ntwo\nthree", "zero\none\ntwo and a half\nthree"),
        ("one", "eins", "uno\ndos", "eins\nuno\ndos"),
        ("one two", "", "one two three", "one two three"),
        ("", "theirs", "mine", "theirs mine"),
        ("same", "other", "other", "other"),
    ],
)
def test_texts_are_brought_together(base: str, theirs: str, mine: str, expected: str) -> None:
    assert combine_texts(base, theirs, mine) == expected


@given(WORDS, WORDS, WORDS)
def test_no_word_that_either_side_added_is_lost(base: str, theirs: str, mine: str) -> None:
    added = {word for side in (theirs, mine) for word in side.split()} - set(base.split())

    assert added <= set(combine_texts(base, theirs, mine).split())


@given(WORDS, WORDS)
def test_the_change_of_one_side_alone_is_taken_as_it_is(base: str, other: str) -> None:
    assert combine_texts(base, other, base) == other
    assert combine_texts(base, base, other) == other
    assert combine_texts(base, other, other) == other


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 9, "b": 2}, {"a": 1, "b": 8}, {"a": 9, "b": 8}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}, {"a": 1, "b": 2, "c": 3}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 5, "b": 2}, {"a": 5}),
        ({"a": 1}, {}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": 2}, {}, {"a": 2}),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 3}),
        ({"r": ["a", "b"]}, {"r": ["a", "b", "c"]}, {"r": ["b", "d"]}, {"r": ["b", "c", "d"]}),
        (
            {"p": {"x": {"t": 1}}},
            {"p": {"x": {"t": 2}}},
            {"p": {"x": {"t": 1, "d": 3}}},
            {"p": {"x": {"t": 2, "d": 3}}},
        ),
        (None, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": True}, {"a": 1}, {"a": True}),
        ({}, [1], {"a": 1}, {"a": 1}),
    ],
)
def test_documents_are_brought_together(base: Any, theirs: Any, mine: Any, expected: Any) -> None:
    assert combine_json(base, theirs, mine) == expected
