"""Admin of tools and actions: `ce_tool`, `ce_pending_action` and the tables `ce_mcp_…`."""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_url
from config_admin.tables.base_admin import IntentFilter, InUseFilter, RowAdmin, ScopedAdmin, StateFilter, any_last
from config_admin.tables.mcp_planner import CeMcpPlanner
from config_admin.tables.mcp_server import CeMcpServer
from config_admin.tables.mcp_sql_guardrail import CeMcpSqlGuardrail
from config_admin.tables.mcp_tool import CeMcpTool
from config_admin.tables.pending_action import CePendingAction
from config_admin.tables.tool import CeTool
from convengine.engine.steps.tools.scope import list_offered_tools
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import rows
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import excerpt_column
from convengine.server.mcp_client.servers import McpServers, read_policy


@admin.register(CeMcpTool)
class ToolAdmin(ScopedAdmin):
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
        return row.tool_code or f"group {row.tool_group}"


@admin.register(CePendingAction)
class PendingActionAdmin(ScopedAdmin):
    """Actions that run after the user confirms."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Action", ("action_key", "description")),
        ("Task", ("bean_name", "method_names")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("about", "in_use", "action_key", "intent_code", "state_code", "runs", "priority")
    search_fields = ("action_key", "bean_name", "description")
    ordering = ("priority", "pending_action_id")

    @admin.display(description="description", ordering="description")
    def about(self, row: CePendingAction) -> str:
        """The description, or the key."""
        return shorten_line(row.description or row.action_key, 60)

    @admin.display(description="runs")
    def runs(self, row: CePendingAction) -> str:
        """The task and its methods."""
        return f"{row.bean_name}: {row.method_names}"


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
        return str(row)


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


@admin.register(CeMcpSqlGuardrail)
class SqlGuardrailAdmin(RowAdmin):
    sections = (
        ("Guardrail", ("rule_type", "match_value")),
        ("Availability", ("enabled", "description")),
    )
    list_display = ("match_value", "in_use", "rule_type", "about")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("match_value", "description")
    ordering = ("rule_type", "match_value")
    about = excerpt_column("description", "description")
