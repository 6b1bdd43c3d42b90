"""`ce_mcp_http_tool`: an HTTP call behind a tool."""

from typing import Any

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.mcp_http_tool.checks import SAVE_CHECKS
from config_admin.tables.mcp_tool.model import CeMcpTool
from config_admin.tables.model_fields import document, optional_text, word
from config_admin.validation.columns import TEMPLATE, NaturalKey, Problem, Reference, declare_column
from convengine.engine.turn.enums import HttpMethod, MappingMode


def any_object() -> dict[str, Any]:
    """The schema that allows any arguments."""
    return {"type": "object"}


_OBJECT = Problem("SHAPE_INVALID", "This must be a JSON object.")


class CeMcpHttpTool(ControlPlaneRow):
    """One row per tool of group HTTP_API that has no handler in code."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="http_tool")
    connection_name = declare_column(
        models.CharField("connection", help_text="The name of a connection of this deployment."),
        reference=Reference.CONNECTION,
    )
    method = word(HttpMethod, default=HttpMethod.GET.value)
    url_template = declare_column(
        models.TextField("path", help_text="The path only. The host comes from the connection."),
        required=Problem("FIELD_REQUIRED", "Enter the path below the connection's address."),
        is_code=True,
    )
    headers_json = declare_column(
        document(default=dict, verbose_name="headers", help_text="The values may be templates."),
        shape=dict,
        misshapen=_OBJECT,
    )
    query_json = declare_column(
        document(default=dict, verbose_name="query", help_text="The values may be templates."),
        shape=dict,
        misshapen=_OBJECT,
    )
    body_template = declare_column(
        optional_text(verbose_name="body", help_text="Not sent with GET, HEAD and DELETE."), language=TEMPLATE
    )
    param_schema = document(
        default=any_object,
        verbose_name="parameters",
        help_text="JSON Schema of the arguments. Calls with other arguments are rejected.",
    )
    policy_json = declare_column(
        document(
            default=dict, verbose_name="policy", help_text="Values that override the McpHttpApi settings for this tool."
        ),
        shape=dict,
        misshapen=_OBJECT,
    )
    mapping_mode = word(MappingMode, default=MappingMode.RAW_JSON.value, verbose_name="result")
    mapping_json = declare_column(
        document(
            default=dict,
            verbose_name="mapping",
            help_text="jsonPath, fieldPaths or mapper, depending on the result type.",
        ),
        shape=dict,
        misshapen=_OBJECT,
    )

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_http_tool"
        verbose_name = "HTTP tool"
