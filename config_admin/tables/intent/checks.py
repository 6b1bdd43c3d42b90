"""Save checks of `ce_intent`."""

from collections.abc import Iterator

from config_admin.tables.output_schema.checks import check_reset_intent, is_reset_intent
from config_admin.validation import common, relations
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
from config_admin.validation.uses import find_references
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY

Intent = Draft[rows.Intent]


def _check_code(draft: Intent) -> Iterator[Finding]:
    value = code(draft.row.intent_code)
    if value == ANY:
        yield draft.error("INTENT_RESERVED", "intent_code", "ANY stands for every intent. Choose another code.")
    elif common.CODE.fullmatch(value) is None:
        yield common.report_code_format(draft, "intent_code")


def _check_renaming(draft: Intent) -> Iterator[Finding]:
    old = draft.replaces
    if old and code(str(old.pk)) != code(draft.row.intent_code) and find_references(draft.snapshot, old):
        yield draft.error(
            "CONFLICT",
            "intent_code",
            "The code cannot be changed, because other rows use it. Create a new intent and move the rows to it.",
        )


def _check_rows_of_reset_intent(draft: Intent) -> Iterator[Finding]:
    kinds = rows.Rule, rows.OutputSchema, rows.Response
    if any(relations.find_rows_of_intent(draft.snapshot, kind, draft.row.intent_code) for kind in kinds):
        yield from check_reset_intent(draft)


def _check_form_of_returning_intent(draft: Intent) -> Iterator[Finding]:
    if draft.row.returns and relations.find_rows_of_intent(draft.snapshot, rows.OutputSchema, draft.row.intent_code):
        yield draft.warning(
            "RETURNING_INTENT_WITH_FORM",
            "returns",
            "This intent has a form, but while another question is open it only gives its answer. Switch off "
            "“Answers and returns”, or move the form to another intent.",
        )


def _check_answers(draft: Intent) -> Iterator[Finding]:
    if not draft.row.enabled or is_reset_intent(draft):
        return
    if not any(relations.find_rows_sharing_scope(draft.snapshot, rows.Response, draft.row.intent_code, ANY)):
        yield draft.warning("NO_RESPONSE_FOR_INTENT", None, "This intent has no answer yet. Add one.")


SAVE_CHECKS = SaveChecks(
    form=(_check_code, _check_renaming),
    fit=(_check_rows_of_reset_intent, _check_form_of_returning_intent, _check_answers),
)
