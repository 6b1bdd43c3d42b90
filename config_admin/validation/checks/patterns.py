"""Checks that classifiers and policies share: how broad a pattern is, judged by what it hits (pipeline-1 1.13)."""

from collections.abc import Iterator

from config_admin.validation.checks import common, programs
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows
from convengine.domain.text import code
from convengine.rules.bank import EXACT, REGEX, single
from convengine.rules.patterns import PatternError, compile_pattern

Patterned = Draft[rows.Classifier] | Draft[rows.Policy]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def hits(rule_type: str, pattern: str | None, text: str) -> bool:
    """True when a row of this type and pattern holds for the text; an unusable pattern never does."""
    try:
        return single(code(rule_type), pattern, text)
    except PatternError:
        return False


def written(draft: Patterned) -> Iterator[Finding]:
    """The pattern is there, and is one."""
    yield from common.required(draft, "pattern", "Enter a pattern.", "PATTERN_BLANK")
    if code(draft.row.rule_type) == REGEX:
        yield from programs.regex(draft, "pattern", draft.row.pattern)


def catches_all(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that holds for every text: it finds the empty one, or any single character."""
    if code(rule_type) != REGEX or not pattern:
        return False
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return False
    return compiled.found("") or all(compiled.found(text) for text in ("a", "7", "?", "é"))


def too_broad(rule_type: str, pattern: str | None) -> bool:
    """True for a pattern that holds for the empty text, or for a letter wherever it stands."""
    if catches_all(rule_type, pattern):
        return True
    if code(rule_type) == EXACT:
        return False
    return any(
        hits(rule_type, pattern, letter) and hits(rule_type, pattern, f"{letter} {letter * 2}") for letter in _LETTERS
    )
