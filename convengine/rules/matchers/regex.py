"""REGEX: the pattern is found in the text, ignoring case (pipeline-2 7.3)."""

from convengine.domain.rows import Rule
from convengine.domain.text import blank
from convengine.rules.patterns import PatternError, compile_pattern
from convengine.rules.verdict import ROW_INVALID, Verdict, text_verdict


def test(rule: Rule, text: str | None) -> Verdict:
    """Test a rule on a text. A null text, a blank pattern or one that does not compile never holds."""
    pattern = rule.match_pattern or ""
    try:
        matched = not blank(pattern) and compile_pattern(pattern).found(text)
    except PatternError:
        return Verdict(False, ROW_INVALID)
    return text_verdict(rule.match_target, text, "=~", rule.match_pattern, matched)
