"""`ce_mcp_server`: external MCP servers whose tools are discovered."""

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.mcp_server.checks import SAVE_CHECKS
from config_admin.tables.model_fields import CodeField, document, make_enabled_field, not_blank, optional_name, word
from config_admin.validation.columns import Bounds, NaturalKey, Problem, Reference, declare_column
from convengine.engine.turn.enums import McpTransport
from convengine.engine.turn.scope import ANY, UNKNOWN


class CeMcpServer(ControlPlaneRow):
    """A server; its tools are called `mcp.{name}.{tool}`."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("name",), is_unique=True)

    ENGINE_COLUMNS = ("last_status", "tool_cache_json", "cached_at")

    server_id = models.BigAutoField("id", primary_key=True)
    name = declare_column(
        models.CharField(
            unique=True,
            validators=[RegexValidator(r"^[A-Za-z0-9_-]+$", "Letters, digits, _ and - only.", "CODE_FORMAT")],
        ),
        is_code=True,
        help="The name by which its tools are called: mcp.name.tool.",
    )
    transport = word(McpTransport)
    command = declare_column(
        optional_name(help_text="Only for local processes: a command that the deployment allows."),
        reference=Reference.COMMAND,
    )
    args_json = declare_column(
        document(
            null=True,
            blank=True,
            verbose_name="arguments",
            help_text="Only for local processes: a JSON list of texts.",
        ),
        shape=list,
        misshapen=Problem("SHAPE_INVALID", "This must be a JSON list of texts."),
    )
    env_json = declare_column(
        document(
            null=True,
            blank=True,
            verbose_name="environment",
            help_text="Only for local processes: a JSON object of texts.",
        ),
        shape=dict,
        misshapen=Problem("SHAPE_INVALID", "This must be a JSON object."),
    )
    url = declare_column(
        optional_name(verbose_name="address", help_text="Only for servers in the network."), is_code=True
    )
    headers_json = declare_column(
        document(
            null=True,
            blank=True,
            verbose_name="headers",
            help_text="Only for servers in the network. Values may refer to secrets.",
        ),
        shape=dict,
        misshapen=Problem("SHAPE_INVALID", "This must be a JSON object."),
    )
    intent_code = declare_column(
        CodeField("intent", default="ANY", db_default="ANY", help_text="The tools of this server may be used here."),
        reference=Reference.INTENT,
        reserved=(ANY, UNKNOWN),
    )
    state_code = declare_column(
        CodeField("state", default="ANY", db_default="ANY", help_text="The tools of this server may be used here."),
        reference=Reference.STATE,
        reserved=(ANY, UNKNOWN),
    )
    allowed_tools_json = declare_column(
        document(
            null=True,
            blank=True,
            verbose_name="allowed tools",
            help_text="A JSON list of names. Empty allows all tools.",
        ),
        shape=list,
        misshapen=Problem("SHAPE_INVALID", "This must be a JSON list of texts."),
    )
    timeout_ms = declare_column(
        models.IntegerField("time limit (ms)", default=10_000, db_default=10_000, validators=[MinValueValidator(1)]),
        bounds=Bounds(
            100, 300_000, Problem("OUT_OF_RANGE", "The limit must be a whole number from 100 to 300000 (milliseconds).")
        ),
        help="How long a call may take, in milliseconds.",
    )
    enabled = make_enabled_field()
    last_status = optional_name(editable=False)
    tool_cache_json = document(null=True, blank=True, editable=False)
    cached_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_server"
        verbose_name = "MCP server"
        constraints = not_blank("intent_code", "state_code")
