"""Admin of `ce_tool`."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.tool.model import CeTool


@admin.register(CeTool)
class DirectToolAdmin(ScopedAdmin):
    """Tools that an intent and state call without a planner."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Call", ("tool_group", "tool_code", "args_template", "run_once")),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("call", "in_use", "intent_code", "state_code", "tool_group", "run_once", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("tool_group", ChoicesDropdownFilter))
    search_fields = ("tool_code", "description")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "priority", "ce_tool_id")

    @admin.display(description="tool", ordering="tool_code")
    def call(self, row: CeTool) -> str:
        """The tool, or the group if there is none."""
        return row.tool_code or f"group {row.tool_group}"
