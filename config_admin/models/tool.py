"""`ce_tool`: which tool an intent and state call without a planner (tables 4.2)."""

from django.db import models

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import document, enabled, flag, note, optional_name, priority, word
from convengine.domain.enums import ToolGroup


class CeTool(ScopedRow):
    """A direct tool call."""

    ce_tool_id = models.BigAutoField("id", primary_key=True)
    tool_group = word(ToolGroup)
    tool_code = optional_name(verbose_name="tool", help_text="The code of a tool; blank calls the group alone.")
    args_template = document(
        default=dict,
        verbose_name="arguments",
        help_text='Values may be templates, for example {"orderId": "{{context.orderNumber}}"}.',
    )
    run_once = flag(True, help_text="Do not run again after a success with the same arguments.")
    priority = priority()
    enabled = enabled()
    description = note()

    class Meta(ScopedRow.Meta):
        db_table = "ce_tool"
        verbose_name = "direct tool call"
        indexes = [index("ce_tool_lookup", "enabled", "intent_code", "state_code", "priority")]

    def summary(self) -> str:
        return f"{self.scope} {self.tool_code or self.tool_group}"
