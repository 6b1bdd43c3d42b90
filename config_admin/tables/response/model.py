"""`ce_response`: answers, which users get in a state."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import document, make_enabled_field, note, optional_text, priority, word
from config_admin.tables.response.checks import SAVE_CHECKS
from config_admin.validation.columns import TEMPLATE, NaturalKey, declare_column
from convengine.engine.turn.enums import OutputFormat, ResponseType


class CeResponse(ScopedRow):
    """An answer: a fixed text, or one that a model writes."""

    save_checks = SAVE_CHECKS
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
