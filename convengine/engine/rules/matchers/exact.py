"""EXACT: the trimmed text equals the pattern, ignoring case; `ANY` matches every text (pipeline-2 7.3)."""

from convengine.engine.rules.bank import ANY, fold_case
from convengine.engine.rules.verdict import Verdict, build_text_verdict
from convengine.engine.text.compare import blank
from convengine.engine.turn.rows import Rule


def match_exact(rule: Rule, text: str | None) -> Verdict:
    """Test a rule on a text. A null text or a blank pattern never matches."""
    pattern = rule.match_pattern or ""
    matched = text is not None and not blank(pattern) and _are_equal(pattern, text)
    return build_text_verdict(rule.match_target, text, "equals", rule.match_pattern, matched)


def _are_equal(pattern: str, text: str) -> bool:
    return fold_case(pattern) in (fold_case(ANY), fold_case(text))
