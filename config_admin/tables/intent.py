"""`ce_intent`: the registry of business intents."""

from collections.abc import Iterator

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, SpokenRow, index
from config_admin.tables.model_fields import (
    CodeField,
    flag,
    make_enabled_field,
    mark_prose,
    optional_name,
    optional_text,
    priority,
)
from config_admin.tables.output_schema import check_reset_intent, is_reset_intent
from config_admin.validation import common, relations
from config_admin.validation.columns import ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
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


class CeIntent(SpokenRow, ControlPlaneRow):
    """A business intent. Every scoped row names one of these, ANY or UNKNOWN."""

    save_checks = SaveChecks(
        form=(_check_code, _check_renaming),
        fit=(_check_rows_of_reset_intent, _check_form_of_returning_intent, _check_answers),
    )
    natural_key = NaturalKey(("intent_code",), is_unique=True)

    intent_code = declare_column(
        CodeField(
            "code", primary_key=True, help_text="Capital letters, digits and underscores, for example CANCEL_ORDER."
        ),
        is_code=True,
    )
    description = declare_column(
        models.TextField(help_text="When this intent applies. A model chooses the intent by this text."),
        required=ColumnProblem(
            "DESCRIPTION_BLANK", "Describe when this intent applies. A model chooses the intent by this text."
        ),
    )
    display_name = mark_prose(
        optional_name(help_text="Shown to users in questions. If empty, the code is shown in words.")
    )
    llm_hint = mark_prose(
        optional_text(
            verbose_name="hint for the model",
            help_text="Extra guidance for the model, for example what does not belong to this intent.",
        )
    )
    priority = priority(help_text="Order in the list that the model receives. Lower numbers come first.")
    returns = flag(
        False,
        verbose_name="answers and returns",
        help_text=(
            "While a form or a question is open, a message with this intent is answered and the open question follows. "
            "Intent, state and form stay as they are. For questions that users ask in between."
        ),
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent"
        verbose_name = "intent"
        indexes = [index("ce_intent_listed", "enabled", "priority", "intent_code")]

    def __str__(self) -> str:
        return str(self.display_name or self.intent_code)
