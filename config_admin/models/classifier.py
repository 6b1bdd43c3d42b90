"""`ce_intent_classifier`: cheap routing by text, tried before the model (tables 2.2)."""

from django.db import models

from config_admin.models.base import ControlPlaneRow, index, shortened
from config_admin.models.fields import CodeField, enabled, not_blank, note, priority, word
from convengine.domain.enums import ClassifierType


class CeIntentClassifier(ControlPlaneRow):
    """A pattern that means an intent. Intent and state are its result, not a filter."""

    classifier_id = models.BigAutoField("id", primary_key=True)
    intent_code = CodeField("resulting intent", help_text="The intent that this pattern means.")
    state_code = CodeField(
        "resulting state",
        default="UNKNOWN",
        db_default="UNKNOWN",
        help_text="The state to start in; ANY leaves the state as it is.",
    )
    rule_type = word(ClassifierType, verbose_name="kind of test")
    pattern = models.TextField(help_text="Case is ignored.")
    priority = priority(help_text="Which row gives the state when several of one intent match; lower goes first.")
    enabled = enabled()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_intent_classifier"
        verbose_name = "classifier"
        indexes = [index("ce_classifier_order", "enabled", "priority")]
        constraints = not_blank("intent_code", "state_code")

    def summary(self) -> str:
        return f"{self.rule_type} {shortened(self.pattern)} → {self.intent_code}"
