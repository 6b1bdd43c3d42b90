"""`ce_pending_action`: things that need a "yes" before they run (tables 4.1)."""

from django.db import models

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import enabled, note, priority


class CePendingAction(ScopedRow):
    """One entry of the catalogue; the life of a concrete action is in the conversation's context."""

    pending_action_id = models.BigAutoField("id", primary_key=True)
    action_key = models.CharField("action", help_text="Business name, for example REFUND_PAYMENT.")
    bean_name = models.CharField("task", help_text="Name of a registered task.")
    method_names = models.CharField("methods", help_text="Methods of that task, separated by commas; run in order.")
    priority = priority(help_text="Lower goes first; equal numbers without a named action make the user choose.")
    enabled = enabled()
    description = note("Shown to the user when there is a choice.")

    class Meta(ScopedRow.Meta):
        db_table = "ce_pending_action"
        verbose_name = "pending action"
        indexes = [index("ce_pending_action_lookup", "enabled", "action_key", "intent_code", "state_code", "priority")]

    def summary(self) -> str:
        return f"{self.scope} {self.action_key}"
