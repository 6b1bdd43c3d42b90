"""Patterns are shown by texts that match."""

import pytest

from convengine.engine.rules.pattern_examples import describe_compared_pattern, describe_examples, describe_match


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\bcancel\b.*\border\b", "matches the pattern of “cancel order”"),
        (r"\b(cancel|stop)\b.*\border\b", "matches the pattern of “stop order” or “cancel order”"),
        ("a|bb|ccc|dddd", "matches the pattern of “a”, “bb”, “ccc” …"),
        (r"\bdeliver\w*\b", "matches the pattern of “deliver”"),
        (r"^\W+$", r"matches the pattern /^\W+$/"),
        ("(", "matches the pattern /(/"),
        ("x" * 60, f"matches the pattern /{'x' * 39}…/"),
    ],
)
def test_a_pattern_is_told_by_its_shortest_texts(pattern: str, words: str) -> None:
    assert describe_match(pattern) == words


def test_a_pattern_of_the_whole_text_has_examples_that_are_one() -> None:
    assert describe_match("(?s).*loan.*", whole=True, negated=True) == "does not match the pattern of “loan”"
    assert describe_match("(", negated=True) == "does not match the pattern /(/"
    assert (
        describe_compared_pattern("/yes|no/i")
        == describe_compared_pattern("yes|no")
        == "matches the pattern of “no” or “yes”"
    )


def test_a_pattern_without_readable_texts_has_no_examples() -> None:
    assert describe_examples(r"\s") == describe_examples("[") == ""
