"""The save checks for stored rows: accepted warnings, and later errors."""

from collections.abc import Iterator
from typing import Any

from config_admin.health.diagnosis import Diagnosis, RowKey
from config_admin.health.survey import Survey
from config_admin.validation.findings import Finding, Severity
from config_admin.validation.save_checks import check_row
from convengine.engine.turn import rows
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
