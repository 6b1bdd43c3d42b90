"""`ce_response`: what the user gets in a state (tables 3.3)."""

from django.db import models

from config_admin.models.base import ScopedRow, index, shortened
from config_admin.models.fields import document, enabled, note, optional_text, priority, word
from convengine.domain.enums import OutputFormat, ResponseType


class CeResponse(ScopedRow):
    """An answer: a text as written, or one that the model writes."""

    response_id = models.BigAutoField("id", primary_key=True)
    output_format = word(OutputFormat, default=OutputFormat.TEXT.value)
    response_type = word(ResponseType, verbose_name="written by")
    exact_text = optional_text(verbose_name="text", help_text="A template; for JSON it must render to JSON.")
    derivation_hint = optional_text(help_text="For the model: appended after the prompts.")
    json_schema = document(
        null=True, blank=True, verbose_name="JSON Schema", help_text="For JSON by the model: the shape asked of it."
    )
    priority = priority()
    enabled = enabled()
    description = note()

    class Meta(ScopedRow.Meta):
        db_table = "ce_response"
        verbose_name = "response"
        indexes = [
            index("ce_response_lookup", "intent_code", "state_code", "enabled", "priority"),
            index("ce_response_state", "state_code", "enabled", "priority"),
        ]

    def summary(self) -> str:
        return f"{self.scope} {self.response_type} {shortened(self.exact_text or self.derivation_hint)}".rstrip()
