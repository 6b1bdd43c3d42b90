"""`ce_mcp_http_tool`: an HTTP call behind a tool (tables 4.7)."""

from typing import Any

from django.db import models

from config_admin.models.base import ControlPlaneRow
from config_admin.models.fields import document, optional_text, word
from config_admin.models.mcp_tool import CeMcpTool
from convengine.domain.enums import HttpMethod, MappingMode


def any_object() -> dict[str, Any]:
    """The schema that takes any arguments."""
    return {"type": "object"}


class CeMcpHttpTool(ControlPlaneRow):
    """One row a tool of group HTTP_API that has no handler in code."""

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="http_tool")
    connection_name = models.CharField("connection", help_text="One of the deployment's named connections.")
    method = word(HttpMethod, default=HttpMethod.GET.value)
    url_template = models.TextField("path", help_text="The path only; the address comes from the connection.")
    headers_json = document(default=dict, verbose_name="headers", help_text="Values are templates.")
    query_json = document(default=dict, verbose_name="query", help_text="Values are templates.")
    body_template = optional_text(verbose_name="body", help_text="Not for GET, HEAD and DELETE.")
    param_schema = document(
        default=any_object, verbose_name="parameters", help_text="JSON Schema of the arguments; enforced."
    )
    policy_json = document(default=dict, verbose_name="policy", help_text="Overrides of the McpHttpApi settings.")
    mapping_mode = word(MappingMode, default=MappingMode.RAW_JSON.value, verbose_name="result")
    mapping_json = document(
        default=dict, verbose_name="mapping", help_text="jsonPath, fieldPaths or mapper, as the result needs."
    )

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_http_tool"
        verbose_name = "HTTP tool"

    def summary(self) -> str:
        return f"{self.method} {self.connection_name}{self.url_template}"
