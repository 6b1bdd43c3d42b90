import pytest

from config_admin.health.texts.predicate import FITS, FITS_CASE, TextPredicate, find_text, includes, is_impossible
from convengine.engine.rules.text_bank import CONTAINS, EXACT, REGEX, RULE_EXACT, STARTS_WITH


def test_the_text_is_one_that_a_person_would_type() -> None:
    assert find_text([TextPredicate(REGEX, r"\bcancel\b.*\border\b"), TextPredicate(REGEX, r"\border\b")]) == (
        "cancel order",
        False,
    )


def test_two_texts_behind_one_another_are_told_apart_from_one_that_both_mean() -> None:
    assert find_text([TextPredicate(REGEX, r"\bcancel\b"), TextPredicate(REGEX, r"\bbill\b")]) == ("cancel bill", True)
    assert find_text([TextPredicate(REGEX, "abcd"), TextPredicate(REGEX, "cdef")], closest=True) == ("abcdef", False)
    assert find_text([TextPredicate(REGEX, "cancel.*order"), TextPredicate(REGEX, "change .*order")]) == (
        "cancel change order",
        False,
    )


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ([TextPredicate(RULE_EXACT, "  Cancel it "), TextPredicate(REGEX, "cancel")], []),
        ([TextPredicate(RULE_EXACT, "ANY"), TextPredicate(CONTAINS, "two  words")], []),
        ([TextPredicate(STARTS_WITH, "track"), TextPredicate(CONTAINS, "parcel"), TextPredicate(REGEX, r"\d{4}")], []),
        ([TextPredicate(EXACT, "hours?"), TextPredicate(CONTAINS, "hour")], []),
        ([TextPredicate(FITS, "[A-Z]{3}"), TextPredicate(FITS_CASE, "[a-z]{2}[A-Z]")], []),
        ([TextPredicate(REGEX, "order")], [TextPredicate(REGEX, r"\border\b")]),
        ([TextPredicate(REGEX, r"[+*].\Qa.b\E")], [TextPredicate(CONTAINS, "*")]),
    ],
)
def test_every_text_is_taken_by_the_engine(wanted: list[TextPredicate], unwanted: list[TextPredicate]) -> None:
    text = find_text(wanted, unwanted)

    assert text is not None
    assert all(predicate.holds(text.text) for predicate in wanted)
    assert not any(predicate.holds(text.text) for predicate in unwanted)


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ([TextPredicate(RULE_EXACT, "yes"), TextPredicate(REGEX, "no")], []),
        ([TextPredicate(RULE_EXACT, "yes")], [TextPredicate(REGEX, "yes")]),
        ([TextPredicate(REGEX, "^yes$")], [TextPredicate(RULE_EXACT, "YES")]),
        ([TextPredicate(FITS_CASE, "[A-Z]+"), TextPredicate(FITS_CASE, "[a-z]+")], []),
    ],
)
def test_what_can_be_proven_is(wanted: list[TextPredicate], unwanted: list[TextPredicate]) -> None:
    assert find_text(wanted, unwanted) is None
    assert is_impossible(wanted, unwanted)


def test_nothing_is_proven_of_texts_that_fold_in_ways_of_their_own() -> None:
    assert not is_impossible([TextPredicate(RULE_EXACT, "pass")], [TextPredicate(REGEX, "pass")])
    assert TextPredicate(RULE_EXACT, "pass").holds("paß")


def test_a_pattern_that_nobody_can_use_is_never_fulfilled() -> None:
    assert find_text([TextPredicate(REGEX, "(")]) is None
    assert not is_impossible([TextPredicate(REGEX, "(")])


def test_without_a_wish_any_text_will_do() -> None:
    assert find_text([]) == ("hello", False)
    assert find_text([], [TextPredicate(REGEX, "hello")]) is not None


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        (r"\border\b", r"\bcancel\b.*\border\b", True),
        (r"\bcancel\b.*\border\b", r"\border\b", False),
        (r"^\d{3,8}$", r"^\d{5}$", True),
        (r"^\d{3,5}$", r"^\d{5,8}$", False),
        ("[a-z]", r"^\w$", False),
    ],
)
def test_a_predicate_includes_another_when_every_text_of_that_one_fulfils_it(
    wider: str, narrower: str, expected: bool
) -> None:
    assert includes(TextPredicate(REGEX, wider), TextPredicate(REGEX, narrower)) is expected
