"""`ce_intent`: the registry of business intents (tables 2.1)."""

from django.db import models

from config_admin.models.base import ControlPlaneRow, index, shortened
from config_admin.models.fields import CodeField, enabled, optional_name, optional_text, priority


class CeIntent(ControlPlaneRow):
    """A business intent. Every scoped row names one of these, ANY or UNKNOWN."""

    intent_code = CodeField(
        "code", primary_key=True, help_text="Capital letters, digits and underscore, for example CANCEL_ORDER."
    )
    description = models.TextField(help_text="When this intent applies. The model chooses by this text.")
    display_name = optional_name(help_text="Shown to users in questions; if blank, the code in words.")
    llm_hint = optional_text(
        verbose_name="hint for the model",
        help_text="Extra steering for the model, for example what this intent is not.",
    )
    priority = priority(help_text="Order in the list that the model is given; lower goes first.")
    enabled = enabled()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent"
        verbose_name = "intent"
        indexes = [index("ce_intent_listed", "enabled", "priority", "intent_code")]

    def __str__(self) -> str:
        return str(self.intent_code)

    def summary(self) -> str:
        return shortened(self.description)
