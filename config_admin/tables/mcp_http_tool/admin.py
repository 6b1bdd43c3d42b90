"""Admin of `ce_mcp_http_tool`."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from config_admin.tables.mcp_http_tool.model import CeMcpHttpTool
from config_admin.tables.mcp_tool.model import CeMcpTool
from config_admin.tables.mcp_tool.try_page import TryToolAdmin
from config_admin.validation.secret_columns import mask_value
from convengine.engine.turn.enums import ToolGroup


@admin.register(CeMcpHttpTool)
class HttpToolAdmin(TryToolAdmin):
    """The call behind a tool of group HTTP_API."""

    sections = (
        ("Tool", ("tool",)),
        ("Call", ("connection_name", "method", "url_template", "query_json", "headers_json", "body_template")),
        ("Arguments and result", ("param_schema", "mapping_mode", "mapping_json", "policy_json")),
    )
    fixed_fields = ("tool",)
    save_as = False
    actions = ("export_selected",)
    list_display = ("tool", "method", "connection_name", "path", "mapping_mode")
    list_filter = ()
    list_select_related = ("tool",)
    search_fields = ("tool__tool_code", "connection_name", "url_template")
    ordering = ("tool__tool_code",)

    @admin.display(ordering="url_template")
    def path(self, row: Any) -> Any:
        """The address, without a secret that a script may have stored."""
        return mask_value(self.opts.db_table, "url_template", row.url_template)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """Only tools of the group."""
        options["queryset"] = CeMcpTool.objects.filter(tool_group=ToolGroup.HTTP_API.value).order_by("tool_code")
        return super().formfield_for_foreignkey(db_field, request, **options)
