"""Checks of each row by itself: its save checks, patterns that match the empty text, and answers with gaps."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from config_admin.health.diagnosis import Diagnosis, RowKey, Witness, make_diagnosis
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import TextPredicate, is_impossible
from config_admin.validation.draft import Finding, Severity
from config_admin.validation.save_checks import check_row
from convengine.engine.rules.conditions.rule import get_target
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.scope import scope_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import get_phrase_book

#: Findings that another health check reports better, with an input or for all rows at once.
REPORTED_BY_OTHER_CHECKS = frozenset(
    {
        "INTENT_DISABLED", "INTENT_UNKNOWN", "STATE_UNKNOWN",
        "REGEX_INVALID", "REGEX_UNSUPPORTED", "REGEX_FLAGS_POSITION", "JSONPATH_INVALID",
        "TEMPLATE_OLDER_FORM",
    }
)  # fmt: skip
#: Errors of missing names: the row was valid once, and something else was removed.
_MISSING_NAME_CODES = frozenset(
    {"NOT_REGISTERED", "TOOL_UNKNOWN", "RULE_GONE", "CONNECTION_UNKNOWN", "PROVIDER_UNKNOWN"}
)
_OF_AN_ERROR = "The row is not valid and may fail in a turn."
_CONSEQUENCES = {
    "REFERENCE_GONE": "The row refers to something that does not exist, so it has no effect for the customer.",
    "DERIVED_NO_PROMPT": "The customer gets the text of the row; without one, an error instead of an answer.",
    "DERIVED_WITHOUT_MODEL": "No model can write the answer: the customer gets an error.",
    "TEMPLATE_VAR_UNKNOWN": "If nothing sets the name, the turn fails or the customer sees a gap.",
    "SCHEMA_NO_PROMPT": ("The engine reads the fields without the model, as in an installation that has no model."),
    "NO_RESPONSE_FOR_INTENT": "Customers who ask for this get an error instead of an answer.",
    "SHADOWED_ROW": "The customer never sees the effect of this row.",
    "DUPLICATE_ROW": "Changes to one of the two rows have no effect.",
    "STATE_GRAPH_MISSING_EDGE": "When the rule applies, the turn gets a warning or the move is reverted.",
    "RULE_OUTSIDE_GRAPH": "When that rule applies, the turn gets a warning or the move is reverted.",
    "RULE_ALWAYS_TRUE": "Every conversation is moved there, whatever the customer writes.",
    "ENGINE_KEY_WRITE": "Later steps use the value of the rule instead of the value of the engine.",
    "PHASE_POINTLESS": "The rule applies, but changes nothing for the customer.",
}


def run_save_checks(survey: Survey) -> Iterator[Diagnosis]:
    """The findings of every enabled row, without rows of disabled intents. What two rows share is said of the first."""
    first_row: dict[Any, Any] = {}
    for row_type in rows.ROW_TYPES:
        for row in survey.of(row_type):
            if not survey.snapshot.is_active(getattr(row, "intent_code", "ANY")):
                continue
            if survey.must_skip("rows"):
                continue
            # Other checks here replace the slow save checks.
            for finding in check_row(row, survey.snapshot, survey.world, with_slow_checks=False):
                shared = _identify_shared(finding, row, survey.snapshot)
                if shared is not None and first_row.setdefault((finding.code, shared), row.pk) != row.pk:
                    continue
                if finding.code not in REPORTED_BY_OTHER_CHECKS:
                    yield _build_diagnosis(finding)


def _identify_shared(finding: Finding, row: Any, snapshot: Snapshot) -> Any:
    """What the rows of a finding share, if each of them has the same finding. Returns None if they share nothing."""
    if finding.code == "ACTION_AMBIGUOUS":
        return (*scope_key(row), getattr(row, "priority", 0))
    if finding.code == "PHRASE_OF_OTHER_INTENT":
        return frozenset(phrase.key for phrase in get_phrase_book(snapshot).find_identical(row.pattern))
    return None


def _build_diagnosis(finding: Finding) -> Diagnosis:
    """A finding of the save checks as a health finding, with its consequence."""
    code = "REFERENCE_GONE" if finding.code in _MISSING_NAME_CODES and finding.is_error else finding.code
    usual = _OF_AN_ERROR if finding.severity is Severity.ERROR else ""
    own: tuple[Any, ...] = (RowKey(finding.table, finding.row),)
    same = finding.severity, finding.table, finding.row, finding.field, finding.message
    return Diagnosis(code, *same, _CONSEQUENCES.get(code, usual), own)


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


#: Fewer turns may be chance.
_FEWEST = 2


def find_answers_with_gaps(survey: Survey) -> Iterator[Diagnosis]:
    """Every enabled answer whose text had gaps in several recent turns; only in a check of all rows.

    Names that the text no longer has do not count.
    """
    if survey.touched is not None:
        return
    gaps: dict[Any, list[tuple[str, ...]]] = defaultdict(list)
    for gap in survey.world.empty_values():
        if gap.table == rows.Response.table:
            gaps[gap.row].append(gap.names)
    for row in survey.of(rows.Response):
        text = row.exact_text or ""
        turns = [names for turn in gaps[row.pk] if (names := [name for name in turn if name in text])]
        if len(turns) >= _FEWEST:
            names = list(dict.fromkeys(name for turn in turns for name in turn))
            yield make_diagnosis(
                "ANSWER_WITH_GAPS",
                Severity.WARNING,
                row,
                f"In {len(turns)} recent turns, {join_names(names)} had no value. Set it before this answer, or give "
                f"it a default: {{{{ {names[0]} | default('...') }}}}.",
                "The customer reads a sentence with gaps.",
                field="exact_text",
            )
