"""EXACT: the trimmed text equals the pattern, ignoring case; `ANY` holds for every text (pipeline-2 7.3)."""

from convengine.domain.rows import Rule
from convengine.domain.text import blank
from convengine.rules.bank import ANY, folded
from convengine.rules.verdict import Verdict, text_verdict


def test(rule: Rule, text: str | None) -> Verdict:
    """Test a rule on a text. A null text or a blank pattern never holds."""
    pattern = rule.match_pattern or ""
    matched = text is not None and not blank(pattern) and _equal(pattern, text)
    return text_verdict(rule.match_target, text, "equals", rule.match_pattern, matched)


def _equal(pattern: str, text: str) -> bool:
    return folded(pattern) in (folded(ANY), folded(text))
