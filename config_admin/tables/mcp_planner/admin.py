"""Admin of `ce_mcp_planner`."""

from django.contrib import admin

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.mcp_planner.model import CeMcpPlanner
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeMcpPlanner)
class PlannerAdmin(ScopedAdmin):
    """The prompts of the planner. Among equals, the newest comes first."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Prompts", ("system_prompt", "user_prompt")),
        ("Availability", ("enabled",)),
    )
    list_display = ("planner", "in_use", "intent_code", "state_code", "prompt")
    search_fields = ("system_prompt", "user_prompt")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "-planner_id")
    prompt = excerpt_column("user_prompt", "user prompt")

    @admin.display(description="planner", ordering="planner_id")
    def planner(self, row: CeMcpPlanner) -> str:
        """The number, what it is for, and where."""
        return str(row)
