"""`ce_prompt_template`: prompt texts, and what the user may do in that state (tables 3.2)."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import Decimals, document, enabled, word
from convengine.domain.enums import InteractionMode, PromptUse


class CePromptTemplate(ScopedRow):
    """The prompts of one use in one scope. Of equals, the newest is used."""

    template_id = models.BigAutoField("id", primary_key=True)
    response_type = word(PromptUse, verbose_name="used for")
    system_prompt = models.TextField()
    user_prompt = models.TextField()
    temperature = Decimals(
        max_digits=3,
        decimal_places=2,
        default=Decimal("0.00"),
        db_default=Decimal("0.00"),
        validators=[
            MinValueValidator(Decimal(0), "Temperature must be between 0 and 2."),
            MaxValueValidator(Decimal(2), "Temperature must be between 0 and 2."),
        ],
        help_text="0.00 to 2.00; passed to the model.",
    )
    interaction_mode = word(
        InteractionMode, null=True, blank=True, help_text="What the user may do in this state; blank says nothing."
    )
    interaction_contract = document(
        null=True,
        blank=True,
        help_text='Decides over the mode, for example {"allows": ["affirm", "edit"], "expects": ["structured_input"]}.',
    )
    enabled = enabled()

    class Meta(ScopedRow.Meta):
        db_table = "ce_prompt_template"
        verbose_name = "prompt template"
        indexes = [index("ce_prompt_template_lookup", "response_type", "intent_code", "state_code", "enabled")]

    def summary(self) -> str:
        return f"{self.scope} {self.response_type} {self.interaction_mode or ''}".rstrip()
