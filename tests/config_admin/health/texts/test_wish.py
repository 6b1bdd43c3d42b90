import pytest

from config_admin.health.texts.wish import FITS, FITS_CASE, Wish, never, text_for
from convengine.rules.bank import CONTAINS, EXACT, REGEX, RULE_EXACT, STARTS_WITH


def test_the_text_is_one_that_a_person_would_type() -> None:
    assert text_for([Wish(REGEX, r"\bcancel\b.*\border\b"), Wish(REGEX, r"\border\b")]) == ("cancel order", False)


def test_two_texts_behind_one_another_are_told_apart_from_one_that_both_mean() -> None:
    assert text_for([Wish(REGEX, r"\bcancel\b"), Wish(REGEX, r"\bbill\b")]) == ("cancel bill", True)
    assert text_for([Wish(REGEX, "abcd"), Wish(REGEX, "cdef")], closest=True) == ("abcdef", False)
    assert text_for([Wish(REGEX, "cancel.*order"), Wish(REGEX, "change .*order")]) == ("cancel change order", False)


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ([Wish(RULE_EXACT, "  Cancel it "), Wish(REGEX, "cancel")], []),
        ([Wish(RULE_EXACT, "ANY"), Wish(CONTAINS, "two  words")], []),
        ([Wish(STARTS_WITH, "track"), Wish(CONTAINS, "parcel"), Wish(REGEX, r"\d{4}")], []),
        ([Wish(EXACT, "hours?"), Wish(CONTAINS, "hour")], []),
        ([Wish(FITS, "[A-Z]{3}"), Wish(FITS_CASE, "[a-z]{2}[A-Z]")], []),
        ([Wish(REGEX, "order")], [Wish(REGEX, r"\border\b")]),
        ([Wish(REGEX, r"[+*].\Qa.b\E")], [Wish(CONTAINS, "*")]),
    ],
)
def test_every_text_is_taken_by_the_engine(wanted: list[Wish], unwanted: list[Wish]) -> None:
    found = text_for(wanted, unwanted)

    assert found is not None
    assert all(wish.holds(found.text) for wish in wanted)
    assert not any(wish.holds(found.text) for wish in unwanted)


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ([Wish(RULE_EXACT, "yes"), Wish(REGEX, "no")], []),
        ([Wish(RULE_EXACT, "yes")], [Wish(REGEX, "yes")]),
        ([Wish(REGEX, "^yes$")], [Wish(RULE_EXACT, "YES")]),
        ([Wish(FITS_CASE, "[A-Z]+"), Wish(FITS_CASE, "[a-z]+")], []),
    ],
)
def test_what_can_be_proven_is(wanted: list[Wish], unwanted: list[Wish]) -> None:
    assert text_for(wanted, unwanted) is None
    assert never(wanted, unwanted)


def test_nothing_is_proven_of_texts_that_fold_in_ways_of_their_own() -> None:
    assert not never([Wish(RULE_EXACT, "pass")], [Wish(REGEX, "pass")])
    assert Wish(RULE_EXACT, "pass").holds("paß")


def test_a_pattern_that_nobody_can_use_is_never_fulfilled() -> None:
    assert text_for([Wish(REGEX, "(")]) is None
    assert not never([Wish(REGEX, "(")])


def test_without_a_wish_any_text_will_do() -> None:
    assert text_for([]) == ("hello", False)
    assert text_for([], [Wish(REGEX, "hello")]) is not None
