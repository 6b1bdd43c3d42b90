"""Admin of `ce_mcp_tool`."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import ScopedAdmin
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.mcp_tool.model import CeMcpTool
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeMcpTool)
class ToolAdmin(ScopedAdmin):
    """Every tool, and where it may be used."""

    sections = (
        ("Tool", ("tool_code", "tool_group", "description", "read_only", "input_schema")),
        ("Scope", ("intent_code", "state_code")),
        ("Availability", ("enabled",)),
    )
    list_display = ("tool_code", "in_use", "tool_group", "intent_code", "state_code", "read_only", "about")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("tool_group", ChoicesDropdownFilter))
    search_fields = ("tool_code", "description")
    ordering = ("tool_group", "tool_code")
    about = excerpt_column("description", "description")
