"""Patterns that match the empty text, and most of them therefore every text."""

from collections.abc import Iterator

from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import TextPredicate, is_impossible
from config_admin.validation.findings import Severity
from convengine.engine.rules.conditions.rule import get_target
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleType

_CONSEQUENCE = {
    rows.Rule: "The rule applies to every message in its scope, whatever the customer writes.",
    rows.Classifier: "Every message matches this intent and collides with every other phrase.",
    rows.Policy: "Every message is blocked, and the customer only gets this answer.",
}
_OF_NOTHING = "A message without text, such as a button or a file, matches by mistake."


def find_patterns_of_empty_text(survey: Survey) -> Iterator[Diagnosis]:
    """Every pattern of a rule, phrase or policy that matches the empty text."""
    for rule in survey.of(rows.Rule):
        if code(rule.rule_type) == RuleType.REGEX and survey.is_active(rule):
            target = get_target(rule).replace("_", " ").lower()
            yield from _check_pattern(rule, "match_pattern", rule.match_pattern, f"whatever the {target} is")
    texts: list[rows.Classifier | rows.Policy] = [*survey.of(rows.Classifier), *survey.of(rows.Policy)]
    for row in texts:
        if code(row.rule_type) == REGEX:
            yield from _check_pattern(row, "pattern", row.pattern, "for every message")


def _check_pattern(row: rows.Row, field: str, pattern: str | None, what: str) -> Iterator[Diagnosis]:
    """A finding if the pattern matches the empty text. A blank or invalid pattern has none."""
    try:
        if not pattern or not pattern.strip() or not compile_pattern(pattern).occurs_in(""):
            return
    except PatternError:
        return
    always = is_impossible([], [TextPredicate(REGEX, pattern)])
    scope_of_match = f"so it matches {what}" if always else "so it matches an empty message"
    yield make_diagnosis(
        "PATTERN_EMPTY_TEXT",
        Severity.WARNING,
        row,
        f"The pattern {pattern} matches the empty text, {scope_of_match}. Require at least one character.",
        _CONSEQUENCE[type(row)] if always else _OF_NOTHING,
        field=field,
        witness=Witness(text=""),
    )
