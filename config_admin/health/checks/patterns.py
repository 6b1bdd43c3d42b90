"""Patterns that hold for the empty text, and most of them therefore for every text (tables 1.7)."""

from collections.abc import Iterator

from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.survey import Survey
from config_admin.health.texts.wish import Wish, never
from config_admin.health.witness import Witness
from config_admin.validation.findings import Severity
from convengine.domain import rows
from convengine.domain.enums import RuleType
from convengine.domain.text import code
from convengine.rules.bank import REGEX
from convengine.rules.conditions import target
from convengine.rules.patterns import PatternError, compile_pattern

_CONSEQUENCE = {
    rows.Rule: "The rule acts on every message of its scope, whatever the customer says.",
    rows.Classifier: "Every message means this intent, and collides with every other classifier.",
    rows.Policy: "Every message is blocked, and the customer gets nothing but this text.",
}
_OF_NOTHING = "A message without text, such as a button or a file alone, is taken for one that was meant by it."


def check(survey: Survey) -> Iterator[Diagnosis]:
    """Every pattern of a rule, a classifier or a policy that is found in the empty text."""
    for rule in survey.of(rows.Rule):
        if code(rule.rule_type) == RuleType.REGEX and survey.active(rule):
            yield from _judged(rule, "match_pattern", rule.match_pattern, f"whatever the {_looked_at(rule)} is")
    texts: list[rows.Classifier | rows.Policy] = [*survey.of(rows.Classifier), *survey.of(rows.Policy)]
    for row in texts:
        if code(row.rule_type) == REGEX:
            yield from _judged(row, "pattern", row.pattern, "whatever is said")


def _looked_at(rule: rows.Rule) -> str:
    return target(rule).replace("_", " ").lower()


def _judged(row: rows.Row, field: str, pattern: str | None, what: str) -> Iterator[Diagnosis]:
    try:
        if not pattern or not pattern.strip() or not compile_pattern(pattern).found(""):
            return
    except PatternError:
        return
    always = never([], [Wish(REGEX, pattern)])
    told = f"so it holds {what}" if always else "so it holds where nothing is said"
    yield diagnosis(
        "PATTERN_EMPTY_TEXT",
        Severity.WARNING,
        row,
        f"The pattern {pattern} is found in the empty text, {told}. Ask for a character at least.",
        _CONSEQUENCE[type(row)] if always else _OF_NOTHING,
        field=field,
        witness=Witness(text=""),
    )
