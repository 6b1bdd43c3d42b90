"""`ce_response`: answers, which users get in a state."""

import re
from collections.abc import Iterator, Mapping

from django.db import models

from config_admin.tables.base_model import ScopedRow, SpokenRow, index
from config_admin.tables.model_fields import document, make_enabled_field, note, optional_text, priority, word
from config_admin.tables.output_schema import check_json_schema
from config_admin.validation import common, relations
from config_admin.validation.columns import TEMPLATE, NaturalKey, declare_column
from config_admin.validation.common import is_last_fallback, report_last_fallback
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.translations import COLUMN, describe_place
from convengine.engine.text.compare import blank, code
from convengine.engine.text.several_texts import split_texts
from convengine.engine.turn import rows
from convengine.engine.turn.enums import OutputFormat, ResponseType
from convengine.engine.turn.scope import UNKNOWN, scope_key
from convengine.engine.turn.translations import find_translations
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.server.interfaces.older_templates import to_jinja

Response = Draft[rows.Response]
#: An expression, or a comment, which prints nothing.
_EXPRESSION = re.compile(r"(\{\{.*?\}\})|\{#.*?#\}", re.DOTALL)


def _is_derived(row: rows.Response) -> bool:
    return code(row.response_type) == ResponseType.DERIVED


def _check_exact_text(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if code(row.response_type) == ResponseType.EXACT and blank(row.exact_text):
        yield draft.error("EXACT_TEXT_REQUIRED", "exact_text", "Enter the text of the answer.")


def _check_json_text(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if _is_derived(row) or code(row.output_format) != OutputFormat.JSON or blank(row.exact_text):
        return
    problem = "With the format JSON, the text must be valid JSON after its placeholders are filled in."
    if not is_json_template(row.exact_text or ""):
        yield draft.error("SHAPE_INVALID", "exact_text", problem)
    stored = as_json(row.translations)
    for language in stored if isinstance(stored, Mapping) else ():
        text = find_translations(stored, language).get("exact_text")
        if text and not is_json_template(text):
            name = describe_place(row.table, "exact_text", language)
            yield draft.error("SHAPE_INVALID", COLUMN, f"{name}: {problem}", f"{language}/exact_text")


def is_json_template(text: str) -> bool:
    """True when the text is JSON with a value instead of each expression.

    Blocks may build anything, and an invalid template is reported elsewhere.
    """
    return all(map(_is_json_text, split_texts(to_jinja(text))))


def _is_json_text(plain: str) -> bool:
    if "{%" in plain:
        return True
    try:
        # A digit is a value where the expression is alone, and a harmless character inside a text.
        read_json(_EXPRESSION.sub(lambda match: "0" if match[1] else "", plain))
    except Unreadable:
        return False
    return True


def _check_schema(draft: Response) -> Iterator[Finding]:
    row = draft.row
    schema = as_json(row.json_schema)
    if schema is None or schema is UNREADABLE:
        return
    if not _is_derived(row) or code(row.output_format) != OutputFormat.JSON:
        yield draft.error(
            "JSON_SCHEMA_FOR_TEXT",
            "json_schema",
            "A JSON Schema only applies to DERIVED answers in the format JSON. Remove it.",
        )
    else:
        yield from check_json_schema(draft, "json_schema", schema)


def _check_last_fallback(draft: Response) -> Iterator[Finding]:
    remains = draft.row.enabled and scope_key(draft.row) == (UNKNOWN, UNKNOWN)
    if not remains and is_last_fallback(draft.snapshot, draft.row):
        yield report_last_fallback(draft)


def _check_prompt(draft: Response) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled or not _is_derived(row):
        return
    wanted = code(row.output_format)
    fitting = relations.find_rows_sharing_scope(draft.snapshot, rows.PromptTemplate, row.intent_code, row.state_code)
    if not any(code(template.response_type) == wanted for template in fitting):
        effect = "the turn would fail" if blank(row.exact_text) else "no model writes it and its text is used"
        yield draft.warning(
            "DERIVED_NO_PROMPT",
            None,
            (
                f"No enabled {wanted} prompt template applies to intent {code(row.intent_code)}, state "
                f"{code(row.state_code)}, so {effect}. Add one."
            ),
        )


def _check_hint(draft: Response) -> Iterator[Finding]:
    if _is_derived(draft.row) and blank(draft.row.derivation_hint):
        yield draft.warning(
            "DERIVED_NO_HINT", "derivation_hint", "Without a hint, the model only gets the prompt template."
        )


def _check_model(draft: Response) -> Iterator[Finding]:
    # An answer with a text of its own is meant to work without a model, too.
    if _is_derived(draft.row) and not draft.world.model_configured and blank(draft.row.exact_text):
        message = "No model is configured, so the turn fails. Enter a text as fallback."
        yield draft.warning("DERIVED_WITHOUT_MODEL", "response_type", message)


class CeResponse(SpokenRow, ScopedRow):
    """An answer: a fixed text, or one that a model writes."""

    save_checks = SaveChecks(
        form=(
            _check_exact_text,
            _check_json_text,
            _check_schema,
            _check_last_fallback,
        ),
        fit=(_check_prompt, _check_hint, _check_model, common.check_duplicate_row, common.make_shadowing_check()),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "output_format"))

    response_id = models.BigAutoField("id", primary_key=True)
    output_format = word(OutputFormat, default=OutputFormat.TEXT.value)
    response_type = word(ResponseType, verbose_name="written by")
    exact_text = declare_column(
        optional_text(verbose_name="text", help_text="A template. For the format JSON it must render to valid JSON."),
        language=TEMPLATE,
        is_strict=False,
    )
    derivation_hint = declare_column(
        optional_text(verbose_name="extra instruction", help_text="Added after the prompts for the model."),
        language=TEMPLATE,
        is_strict=True,
    )
    json_schema = document(
        null=True,
        blank=True,
        verbose_name="JSON Schema",
        help_text="The JSON Schema of an answer that a model writes as JSON.",
    )
    priority = priority()
    enabled = make_enabled_field()
    description = note()

    class Meta(ScopedRow.Meta):
        db_table = "ce_response"
        verbose_name = "answer"
        indexes = [
            index("ce_response_lookup", "intent_code", "state_code", "enabled", "priority"),
            index("ce_response_state", "state_code", "enabled", "priority"),
        ]
