"""REGEX: the pattern occurs in the text, ignoring case (pipeline-2 7.3)."""

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.verdict import ROW_INVALID, Verdict, build_text_verdict
from convengine.engine.text.compare import blank
from convengine.engine.turn.rows import Rule


def match_regex(rule: Rule, text: str | None) -> Verdict:
    """Test a rule on a text. A null text, or a blank or invalid pattern never matches."""
    pattern = rule.match_pattern or ""
    try:
        matched = not blank(pattern) and compile_pattern(pattern).occurs_in(text)
    except PatternError:
        return Verdict(False, ROW_INVALID)
    return build_text_verdict(rule.match_target, text, "=~", rule.match_pattern, matched)
