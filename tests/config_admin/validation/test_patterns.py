"""How broad a pattern is."""

import pytest

from config_admin.validation.patterns import catches_all, hits, too_broad


@pytest.mark.parametrize("pattern", [".*", ".", "x?", "^", r"\w|\W", "(?i).+"])
def test_some_patterns_catch_everything(pattern: str) -> None:
    assert catches_all("REGEX", pattern)
    assert catches_all(" regex ", pattern)


@pytest.mark.parametrize(("kind", "pattern"), [("REGEX", "a"), ("REGEX", "("), ("CONTAINS", ".*"), ("REGEX", None)])
def test_others_do_not(kind: str, pattern: str | None) -> None:
    assert not catches_all(kind, pattern)


def test_a_letter_that_counts_wherever_it_stands_is_broad() -> None:
    assert too_broad("REGEX", "[aeiou]")
    assert too_broad("STARTS_WITH", "b")
    assert not too_broad("REGEX", "^[yn]$")
    assert not too_broad("EXACT", "y")


def test_an_unusable_pattern_hits_nothing() -> None:
    assert not hits("REGEX", "(", "anything")
    assert hits("contains", "THING", "anything")
