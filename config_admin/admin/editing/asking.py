"""Asking an MCP server for its tools from its page: does the row work, and what would a planner see?"""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.admin.base import ScopedAdmin
from config_admin.admin.desk import desk_of
from convengine.domain import rows
from convengine.domain.ports import ServerTools
from convengine.executors import mcp_server
from convengine.mcp_client.servers import McpServers
from convengine.tools.servers import offered_by

Json = Any


class AskingAdmin(ScopedAdmin):
    """Rows of servers, with a page that asks one for its tools."""

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the one that asks."""
        view = self.admin_site.admin_view(self.tools_view)
        return [path("<int:pk>/tools/", view, name="config_admin_cemcpserver_tools"), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link, for who may change the row."""
        found = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return found
        return [*found, ("Tools", {"fields": ["ask"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is no field to fill in."""
        return (*super().get_readonly_fields(request, obj), "ask")

    @admin.display(description="ask it")
    def ask(self, row: Any) -> SafeString:
        """The way to the page."""
        url = reverse("admin:config_admin_cemcpserver_tools", args=[row.pk])
        return format_html('<a class="ce-link" href="{}">Ask the server for its tools</a>', url)

    def tools_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page: a button, and what the server answered to the row as it is saved."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        server = desk_of(request).snapshot.row(rows.McpServer, pk)
        if server is None:
            raise Http404
        # Only a press of the button may start a process.
        asked = McpServers(mcp_server.policy()).tools(server) if request.method == "POST" else None
        context = {
            **self.admin_site.each_context(request),
            "title": f"Tools of {server.name}",
            "opts": self.opts,
            "asked": asked,
            "tools": _shown(server, asked) if asked else [],
            "back_url": reverse("admin:config_admin_cemcpserver_change", args=[pk]),
        }
        return TemplateResponse(request, "config_admin/server_tools.html", context)


def _shown(server: rows.McpServer, asked: ServerTools) -> list[Json]:
    allowed = {tool.tool_code: tool for tool in offered_by(server, asked)}
    return [
        {
            "code": tool.tool_code,
            "description": tool.description or "",
            "read_only": tool.read_only,
            "schema": json.dumps(tool.input_schema, indent=2, ensure_ascii=False),
        }
        for tool in allowed.values()
    ]
