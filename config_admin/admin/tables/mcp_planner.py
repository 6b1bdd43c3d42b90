"""Admin of `ce_mcp_planner` (tables 4.5)."""

from django.contrib import admin

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.models import CeMcpPlanner
from convengine.record_columns import beginning


@admin.register(CeMcpPlanner)
class PlannerAdmin(ScopedAdmin):
    """How a model plans its calls. Of equals, the newest comes first."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Prompts", ("system_prompt", "user_prompt")),
        ("In force", ("enabled",)),
    )
    pickers = SCOPE
    code_fields = ("system_prompt", "user_prompt")
    list_display = ("planner", "in_use", "intent_code", "state_code", "prompt")
    search_fields = ("system_prompt", "user_prompt")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "-planner_id")
    prompt = beginning("user_prompt", "user prompt")

    @admin.display(description="planner", ordering="planner_id")
    def planner(self, row: CeMcpPlanner) -> str:
        """Its number."""
        return f"Planner {row.pk}"
