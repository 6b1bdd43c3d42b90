import pytest

from config_admin.health.checks.patterns import find_patterns_of_empty_text
from tests.builders import make_classifier, make_intent, make_policy, make_rule
from tests.config_admin.health.run_check import list_codes, run_check


@pytest.mark.parametrize("pattern", ["a*", ".*", "(yes)?", "^", r"\bno\b|", "x{0,3}"])
def test_a_pattern_that_is_found_in_the_empty_text_is_told(pattern: str) -> None:
    rule = make_rule(rule_type="REGEX", match_pattern=pattern)
    classifier = make_classifier("LOAN", pattern, rule_type="REGEX")
    policy = make_policy("REGEX", pattern)

    codes = list_codes(find_patterns_of_empty_text, make_intent("LOAN"), rule, classifier, policy)

    assert codes == [("PATTERN_EMPTY_TEXT", row.pk) for row in (rule, classifier, policy)]


@pytest.mark.parametrize(
    ("pattern", "words"), [("a*", "whatever the user text is"), (r"^\s*$", "matches an empty message")]
)
def test_only_of_a_pattern_that_every_text_fulfils_that_is_said(pattern: str, words: str) -> None:
    [diagnosis] = run_check(find_patterns_of_empty_text, make_rule(rule_type="REGEX", match_pattern=pattern))
    assert words in diagnosis.message


@pytest.mark.parametrize("pattern", ["a", "^a*b$", "(", "", r"\w"])
def test_other_patterns_are_not(pattern: str) -> None:
    assert not list_codes(find_patterns_of_empty_text, make_rule(rule_type="REGEX", match_pattern=pattern))
    assert not list_codes(find_patterns_of_empty_text, make_rule(rule_type="EXACT", match_pattern="a*"))
