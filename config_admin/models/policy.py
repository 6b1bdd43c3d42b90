"""`ce_policy`: what is never processed (tables 2.5)."""

from django.db import models

from config_admin.models.base import ControlPlaneRow, index, shortened
from config_admin.models.fields import enabled, note, priority, word
from convengine.domain.enums import PolicyType


class CePolicy(ControlPlaneRow):
    """A text that ends the turn before anything looks at it. It has no scope."""

    policy_id = models.BigAutoField("id", primary_key=True)
    rule_type = word(PolicyType, verbose_name="kind of test")
    pattern = models.TextField(help_text="Case is ignored. For LLM: the criterion in words.")
    response_text = models.TextField("answer", help_text="The text the user gets when this applies; sent as it is.")
    priority = priority(10, "Lower goes first; the first match stops the turn.")
    enabled = enabled()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_policy"
        verbose_name = "policy"
        verbose_name_plural = "policies"
        indexes = [index("ce_policy_order", "enabled", "priority")]

    def summary(self) -> str:
        return f"{self.rule_type} {shortened(self.pattern)}"
