"""`ce_prompt_template`: prompt texts, and what the user may do in that state."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import Decimals, document, make_enabled_field, word
from config_admin.tables.prompt_template.checks import SAVE_CHECKS
from config_admin.validation.columns import TEMPLATE, Bounds, NaturalKey, Problem, declare_column
from convengine.engine.turn.enums import InteractionMode, PromptUse

_TEMPERATURE = Problem("TEMPERATURE", "Temperature must be between 0 and 2.")


class CePromptTemplate(ScopedRow):
    """The prompts of one use in one scope. Among equals, the newest is used."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code", "response_type"))

    template_id = models.BigAutoField("id", primary_key=True)
    response_type = word(
        PromptUse,
        unknown=Problem("RESPONSE_TYPE_PROMPT", "Choose {one_of}. Other types belong to answers."),
        verbose_name="used for",
    )
    system_prompt = declare_column(
        models.TextField(),
        required=Problem("FIELD_REQUIRED", "Enter the system prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="The system prompt.",
    )
    user_prompt = declare_column(
        models.TextField(),
        required=Problem("FIELD_REQUIRED", "Enter the user prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="What the model is asked.",
    )
    temperature = declare_column(
        Decimals(
            max_digits=3,
            decimal_places=2,
            default=Decimal("0.00"),
            db_default=Decimal("0.00"),
            validators=[
                MinValueValidator(Decimal(0), _TEMPERATURE.text),
                MaxValueValidator(Decimal(2), _TEMPERATURE.text),
            ],
            help_text="0.00 to 2.00. Passed to the model.",
        ),
        bounds=Bounds(0, 2, _TEMPERATURE, is_whole=False),
    )
    interaction_mode = word(
        InteractionMode,
        unknown=None,
        null=True,
        blank=True,
        help_text="What the user may do in this state. Empty means no restriction.",
    )
    interaction_contract = document(
        null=True,
        blank=True,
        help_text='Decides over the mode, for example {"allows": ["affirm", "edit"], "expects": ["structured_input"]}.',
    )
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_prompt_template"
        verbose_name = "prompt template"
        indexes = [index("ce_prompt_template_lookup", "response_type", "intent_code", "state_code", "enabled")]
