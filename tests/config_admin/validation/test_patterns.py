"""How broad a pattern is."""

import pytest

from config_admin.validation.patterns import is_match, is_too_broad, matches_everything


@pytest.mark.parametrize("pattern", [".*", ".", "x?", "^", r"\w|\W", "(?i).+"])
def test_some_patterns_catch_everything(pattern: str) -> None:
    assert matches_everything("REGEX", pattern)
    assert matches_everything(" regex ", pattern)


@pytest.mark.parametrize(("kind", "pattern"), [("REGEX", "a"), ("REGEX", "("), ("CONTAINS", ".*"), ("REGEX", None)])
def test_others_do_not(kind: str, pattern: str | None) -> None:
    assert not matches_everything(kind, pattern)


def test_a_letter_that_counts_wherever_it_stands_is_broad() -> None:
    assert is_too_broad("REGEX", "[aeiou]")
    assert is_too_broad("STARTS_WITH", "b")
    assert not is_too_broad("REGEX", "^[yn]$")
    assert not is_too_broad("EXACT", "y")


def test_an_unusable_pattern_hits_nothing() -> None:
    assert not is_match("REGEX", "(", "anything")
    assert is_match("contains", "THING", "anything")
