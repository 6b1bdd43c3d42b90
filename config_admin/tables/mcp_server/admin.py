"""Admin of `ce_mcp_server`."""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_url
from config_admin.tables.base_admin import ScopedAdmin
from config_admin.tables.mcp_server.model import CeMcpServer
from convengine.engine.steps.tools.scope import list_offered_tools
from convengine.engine.turn import rows
from convengine.server.admin_site.pages import page
from convengine.server.mcp_client.servers import McpServers, read_policy


@admin.register(CeMcpServer)
class McpServerAdmin(ScopedAdmin):
    """External servers whose tools are discovered, with a page that asks one for its tools."""

    sections = (
        ("Server", ("name", "transport", "timeout_ms")),
        ("Local process", ("command", "args_json", "env_json")),
        ("Network", ("url", "headers_json")),
        ("Scope", ("intent_code", "state_code", "allowed_tools_json")),
        ("Availability", ("enabled",)),
    )
    list_display = ("name", "in_use", "transport", "intent_code", "state_code")
    search_fields = ("name", "url", "command")
    ordering = ("name",)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link, for users who may change the row."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [*fieldsets, ("Tools", {"fields": ["ask"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is read-only."""
        return (*super().get_readonly_fields(request, obj), "ask")

    @admin.display(description="tools")
    def ask(self, row: Any) -> SafeString:
        """The link to the page."""
        url = row_url(self.opts.db_table, row.pk, "tools")
        return format_html('<a class="ce-link" href="{}">List the tools of this server</a>', url)

    @page("<int:pk>/tools/")
    def tools_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page: a button, and the server's answer for the saved row."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        server = get_editor_context(request).snapshot.row(rows.McpServer, pk)
        if server is None:
            raise Http404("This row does not exist.")
        # Only a click on the button may start a process.
        server_tools = McpServers(read_policy()).tools(server) if request.method == "POST" else None
        offered = list_offered_tools(server, server_tools) if server_tools else ()
        by_code = {tool.tool_code: tool for tool in offered}
        context = {
            "title": f"Tools of {server.name}",
            "server_tools": server_tools,
            "tools": [
                {
                    "code": tool.tool_code,
                    "description": tool.description or "",
                    "read_only": tool.read_only,
                    "schema": json.dumps(tool.input_schema, indent=2, ensure_ascii=False),
                }
                for tool in by_code.values()
            ],
            "back_url": row_url(self.opts.db_table, pk),
        }
        return TemplateResponse(request, "config_admin/server_tools.html", context)
