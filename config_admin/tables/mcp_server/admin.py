"""Admin of `ce_mcp_server` (tables 4.8)."""

from django.contrib import admin

from config_admin.tables.mcp_server.discover_page import DiscoverToolsAdmin
from config_admin.tables.mcp_server.model import CeMcpServer


@admin.register(CeMcpServer)
class McpServerAdmin(DiscoverToolsAdmin):
    """External servers whose tools are discovered."""

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
