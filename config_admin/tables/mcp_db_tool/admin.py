"""Admin of `ce_mcp_db_tool`."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from config_admin.tables.mcp_db_tool.model import CeMcpDbTool
from config_admin.tables.mcp_tool.model import CeMcpTool
from config_admin.tables.mcp_tool.try_page import TryToolAdmin
from convengine.engine.turn.enums import ToolGroup
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeMcpDbTool)
class DbToolAdmin(TryToolAdmin):
    """The SQL behind a tool of group DB."""

    sections = (
        ("Tool", ("tool",)),
        ("Statement", ("dialect", "sql_template", "param_schema")),
        ("Limits", ("safe_mode", "max_rows", "allowed_identifiers", "allowed_tables")),
    )
    fixed_fields = ("tool",)
    save_as = False
    actions = ("export_selected",)
    list_display = ("tool", "dialect", "statement", "safe_mode", "max_rows")
    list_filter = ()
    list_select_related = ("tool",)
    search_fields = ("tool__tool_code", "sql_template")
    ordering = ("tool__tool_code",)
    statement = excerpt_column("sql_template", "statement", 80)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """Only tools of the group."""
        options["queryset"] = CeMcpTool.objects.filter(tool_group=ToolGroup.DB.value).order_by("tool_code")
        return super().formfield_for_foreignkey(db_field, request, **options)
