"""Admin of `ce_mcp_tool` (tables 4.3)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import SCOPE, ScopedAdmin
from config_admin.admin.editing.pickers import words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.models import CeMcpTool
from convengine.domain.enums import ToolGroup
from convengine.record_columns import beginning


@admin.register(CeMcpTool)
class ToolAdmin(ScopedAdmin):
    """Every tool, and where it may be used."""

    sections = (
        ("Tool", ("tool_code", "tool_group", "description", "read_only", "input_schema")),
        ("Where it may be used", ("intent_code", "state_code")),
        ("In force", ("enabled",)),
    )
    pickers = {**SCOPE, "tool_group": words(ToolGroup)}
    code_fields = ("tool_code", "input_schema")
    list_display = ("tool_code", "in_use", "tool_group", "intent_code", "state_code", "read_only", "about")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("tool_group", ChoicesDropdownFilter))
    search_fields = ("tool_code", "description")
    ordering = ("tool_group", "tool_code")
    about = beginning("description", "description")
