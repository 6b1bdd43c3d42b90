"""`ce_mcp_server`: external MCP servers whose tools are discovered (tables 4.8)."""

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from config_admin.models.base import ControlPlaneRow
from config_admin.models.fields import CodeField, document, enabled, not_blank, optional_name, word
from convengine.domain.enums import McpTransport


class CeMcpServer(ControlPlaneRow):
    """A server; its tools are called `mcp.{name}.{tool}`."""

    ENGINE_COLUMNS = ("last_status", "tool_cache_json", "cached_at")

    server_id = models.BigAutoField("id", primary_key=True)
    name = models.CharField(
        unique=True, validators=[RegexValidator(r"^[A-Za-z0-9_-]+$", "Letters, digits, _ and - only.", "CODE_FORMAT")]
    )
    transport = word(McpTransport)
    command = optional_name(help_text="STDIO: the command, one of those that the deployment allows.")
    args_json = document(null=True, blank=True, verbose_name="arguments", help_text="STDIO: a list of texts.")
    env_json = document(null=True, blank=True, verbose_name="environment", help_text="STDIO: an object of texts.")
    url = optional_name(verbose_name="address", help_text="HTTP and SSE.")
    headers_json = document(
        null=True, blank=True, verbose_name="headers", help_text="HTTP and SSE; values may name secrets."
    )
    intent_code = CodeField("intent", default="ANY", db_default="ANY", help_text="Where its tools may be used.")
    state_code = CodeField("state", default="ANY", db_default="ANY", help_text="Where its tools may be used.")
    allowed_tools_json = document(
        null=True, blank=True, verbose_name="allowed tools", help_text="A list of names; blank for all."
    )
    timeout_ms = models.IntegerField(
        "time limit (ms)", default=10_000, db_default=10_000, validators=[MinValueValidator(1)]
    )
    enabled = enabled()
    last_status = optional_name(editable=False)
    tool_cache_json = document(null=True, blank=True, editable=False)
    cached_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_server"
        verbose_name = "MCP server"
        constraints = not_blank("intent_code", "state_code")

    def summary(self) -> str:
        return f"{self.name} ({self.transport})"
