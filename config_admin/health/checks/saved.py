"""What the save checks say of rows as they stand: warnings that were accepted, and what became wrong since."""

from collections.abc import Iterator
from typing import Any

from config_admin.health.diagnosis import Diagnosis, RowKey
from config_admin.health.survey import Survey
from config_admin.validation.checks import classifier, rule_moves
from config_admin.validation.draft import Check
from config_admin.validation.findings import Finding, Severity
from config_admin.validation.run import check_row
from convengine.domain import rows

#: Checks that take long in large configurations, and that others here make better.
LEFT_OUT: tuple[Check, ...] = (classifier.overlap, rule_moves.flip_flop)
#: What a check of this page says better, with an input or with all rows at once.
SAID_ELSEWHERE = frozenset(
    {
        "INTENT_DISABLED", "INTENT_UNKNOWN", "STATE_UNKNOWN", "STATE_WITHOUT_RESPONSE",
        "REGEX_INVALID", "REGEX_UNSUPPORTED", "REGEX_FLAGS_POSITION", "JSONPATH_INVALID",
        "TEMPLATE_OLDER_FORM",
    }
)  # fmt: skip
#: Errors of names that are not there: the row was sound once, and something else went.
_GONE = frozenset({"NOT_REGISTERED", "TOOL_UNKNOWN", "RULE_GONE", "CONNECTION_UNKNOWN", "PROVIDER_UNKNOWN"})
_OF_AN_ERROR = "The form would not take the row as it stands: what it is for may fail in a turn."
_OF_A_WARNING = "Turns go on, but maybe not as it was meant; the message says what to look at."
_CONSEQUENCES = {
    "REFERENCE_GONE": "What the row names is not there, so that what it is for is not done for the customer.",
    "DERIVED_NO_PROMPT": "The turn fails, and the customer gets an error instead of an answer.",
    "DERIVED_WITHOUT_MODEL": "No model can write the answer: the customer gets the text of the row, or an error.",
    "TEMPLATE_VAR_UNKNOWN": "Where nothing sets the name, the turn fails or the customer reads a gap.",
    "SCHEMA_NO_PROMPT": "A model cannot be asked for the data; only what the engine reads by itself is collected.",
    "NO_RESPONSE_FOR_INTENT": "Whoever asks for this gets an error instead of an answer.",
    "SHADOWED_ROW": "The customer never gets what this row says.",
    "DUPLICATE_ROW": "Whoever changes one of the two rows wonders why nothing changes.",
    "STATE_GRAPH_MISSING_EDGE": "The turn is flagged, or taken back, when the rule acts.",
    "RULE_OUTSIDE_GRAPH": "The turn is flagged, or taken back, when that rule acts.",
    "RULE_ALWAYS_TRUE": "Every conversation is moved there, whatever the customer says.",
    "ENGINE_KEY_WRITE": "Later steps work with what the rule says instead of what the engine found out.",
    "PHASE_POINTLESS": "The rule acts and changes nothing for the customer.",
}


def check(survey: Survey) -> Iterator[Diagnosis]:
    """The findings of every row that is switched on; those of rows of switched-off intents are not worth telling."""
    for row_type in rows.ROW_TYPES:
        for row in survey.of(row_type):
            if not survey.snapshot.is_active(getattr(row, "intent_code", "ANY")):
                continue
            if survey.late("rows"):
                continue
            for finding in check_row(row, survey.snapshot, survey.world, leaving_out=LEFT_OUT):
                if finding.code not in SAID_ELSEWHERE:
                    yield _told(finding)


def _told(finding: Finding) -> Diagnosis:
    code = "REFERENCE_GONE" if finding.code in _GONE and finding.is_error else finding.code
    usual = _OF_AN_ERROR if finding.severity is Severity.ERROR else _OF_A_WARNING
    own: tuple[Any, ...] = (RowKey(finding.table, finding.row),)
    return Diagnosis(
        code,
        finding.severity,
        finding.table,
        finding.row,
        finding.field,
        finding.message,
        _CONSEQUENCES.get(code, usual),
        own,
    )
