"""Checks that phrases and policies share: how broad a pattern is (pipeline-1 1.13)."""

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import EXACT, REGEX, matches_single
from convengine.engine.text.compare import code

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def is_match(rule_type: str, pattern: str | None, text: str) -> bool:
    """True when a row of this type and pattern matches the text; an unusable pattern never does."""
    try:
        return matches_single(code(rule_type), pattern, text)
    except PatternError:
        return False


def matches_everything(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that matches every text: the empty one, or any single character."""
    if code(rule_type) != REGEX or not pattern:
        return False
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return False
    return compiled.occurs_in("") or all(compiled.occurs_in(text) for text in ("a", "7", "?", "é"))


def is_too_broad(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that matches the empty text, or a single letter anywhere."""
    if matches_everything(rule_type, pattern):
        return True
    if code(rule_type) == EXACT:
        return False
    return any(
        is_match(rule_type, pattern, letter) and is_match(rule_type, pattern, f"{letter} {letter * 2}")
        for letter in _LETTERS
    )
