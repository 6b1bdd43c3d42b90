"""`ce_mcp_planner`: planner prompts of an intent and state (tables 4.5)."""

from django.db import models

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import enabled


class CeMcpPlanner(ScopedRow):
    """The prompts by which a model plans tool calls. Of equals, the highest id is used."""

    planner_id = models.BigAutoField("id", primary_key=True)
    system_prompt = models.TextField()
    user_prompt = models.TextField(help_text="Should show {{mcp_tools}}, or the planner does not know the tools.")
    enabled = enabled()

    class Meta(ScopedRow.Meta):
        db_table = "ce_mcp_planner"
        verbose_name = "planner prompt"
        indexes = [index("ce_mcp_planner_lookup", "enabled", "intent_code", "state_code", "planner_id")]

    def summary(self) -> str:
        return self.scope
