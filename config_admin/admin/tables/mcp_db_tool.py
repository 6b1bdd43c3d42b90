"""Admin of `ce_mcp_db_tool` (tables 4.4)."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from config_admin.admin.editing.pickers import words
from config_admin.admin.editing.trying import TryingAdmin
from config_admin.models import CeMcpDbTool, CeMcpTool
from convengine.domain.enums import SqlDialect, ToolGroup
from convengine.record_columns import beginning


@admin.register(CeMcpDbTool)
class DbToolAdmin(TryingAdmin):
    """The SQL behind a tool of group DB."""

    sections = (
        ("Tool", ("tool",)),
        ("Statement", ("dialect", "sql_template", "param_schema")),
        ("Limits", ("safe_mode", "max_rows", "allowed_identifiers", "allowed_tables")),
    )
    pickers = {"dialect": words(SqlDialect)}
    code_fields = ("sql_template", "param_schema", "allowed_identifiers", "allowed_tables")
    fixed_fields = ("tool",)
    save_as = False
    actions = ()
    list_display = ("tool", "dialect", "statement", "safe_mode", "max_rows")
    list_filter = ()
    list_select_related = ("tool",)
    search_fields = ("tool__tool_code", "sql_template")
    ordering = ("tool__tool_code",)
    statement = beginning("sql_template", "statement", 80)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """Only tools of the group."""
        options["queryset"] = CeMcpTool.objects.filter(tool_group=ToolGroup.DB.value).order_by("tool_code")
        return super().formfield_for_foreignkey(db_field, request, **options)
