"""Admin of `ce_mcp_server` (tables 4.8)."""

from django.contrib import admin

from config_admin.admin.base import SCOPE
from config_admin.admin.editing.asking import AskingAdmin
from config_admin.admin.editing.pickers import commands, words
from config_admin.models import CeMcpServer
from convengine.domain.enums import McpTransport


@admin.register(CeMcpServer)
class McpServerAdmin(AskingAdmin):
    """External servers whose tools are discovered."""

    sections = (
        ("Server", ("name", "transport", "timeout_ms")),
        ("Local process", ("command", "args_json", "env_json")),
        ("Over the network", ("url", "headers_json")),
        ("Where its tools may be used", ("intent_code", "state_code", "allowed_tools_json")),
        ("In force", ("enabled",)),
    )
    pickers = {**SCOPE, "transport": words(McpTransport), "command": commands}
    code_fields = ("name", "args_json", "env_json", "url", "headers_json", "allowed_tools_json")
    list_display = ("name", "in_use", "transport", "intent_code", "state_code")
    search_fields = ("name", "url", "command")
    ordering = ("name",)
