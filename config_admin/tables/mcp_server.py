"""`ce_mcp_server`: external MCP servers whose tools are discovered."""

import re
from collections.abc import Iterator
from typing import Any

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.model_fields import CodeField, document, make_enabled_field, not_blank, optional_name, word
from config_admin.validation import common
from config_admin.validation.columns import Bounds, ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import as_json
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import McpTransport
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.server.deployment.environment import suggest_variable
from convengine.server.mcp_client.policy import McpPolicy

Server = Draft[rows.McpServer]
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def _get_name_key(row: Any) -> str:
    return (row.name or "").strip().lower()


def _check_name(draft: Server) -> Iterator[Finding]:
    if _NAME.fullmatch(draft.row.name or "") is None:
        yield draft.error(
            "CODE_FORMAT", "name", "Use only letters, digits, underscores and hyphens. Dots are not allowed."
        )


def _check_transport(draft: Server) -> Iterator[Finding]:
    row, world, transport = draft.row, draft.world, code(draft.row.transport)
    refused = "This installation does not allow this {}. Allowed: {}. {}"
    if transport == McpTransport.STDIO:
        allowed = join_names(world.stdio_commands)
        if blank(row.command):
            yield draft.error("FIELD_REQUIRED", "command", f"Choose the command to start. Allowed: {allowed}.")
        elif world.is_deployed and row.command not in world.stdio_commands:
            remedy = suggest_variable("CE_MCP_STDIO_COMMANDS")
            yield draft.error("NOT_REGISTERED", "command", refused.format("command", allowed, remedy))
    elif transport in (McpTransport.HTTP, McpTransport.SSE):
        url, hosts = row.url or "", world.server_hosts
        if not re.match(r"https?://[^\s/]+", url):
            yield draft.error("FIELD_REQUIRED", "url", "Enter the server's address, starting with https:// or http://.")
        elif world.is_deployed and not McpPolicy(hosts=hosts).allows_host(url):
            remedy = suggest_variable("CE_MCP_HTTP_HOSTS")
            yield draft.error("NOT_REGISTERED", "url", refused.format("host", join_names(hosts), remedy))


def _check_documents(draft: Server) -> Iterator[Finding]:
    # Secrets are named; a row, its history and its exports contain none.
    for field in ("env_json", "headers_json"):
        pairs = as_json(getattr(draft.row, field))
        for name, value in pairs.items() if isinstance(pairs, dict) else ():
            if common.is_secret(str(name), str(value)):
                text = f"{name} contains a secret. Write ${{NAME}} and set CE_MCP_SECRET_NAME in the deployment."
                yield draft.error("SECRET_IN_CONFIG", field, text)
    arguments = as_json(draft.row.args_json)
    texts = [("url", draft.row.url), ("command", draft.row.command)]
    if isinstance(arguments, list):
        texts += [("args_json", text) for text in arguments]
    for field in dict.fromkeys(field for field, text in texts if common.is_secret("", text)):
        yield draft.error(
            "SECRET_IN_CONFIG",
            field,
            "This contains a secret. Pass it as a header or in the environment: write ${NAME} there and set "
            "CE_MCP_SECRET_NAME in the deployment.",
        )


class CeMcpServer(ControlPlaneRow):
    """A server; its tools are called `mcp.{name}.{tool}`."""

    save_checks = SaveChecks(
        form=(
            _check_name,
            common.make_unique_check(_get_name_key, "name", "The server {row.name} already exists (row {other.pk})."),
            _check_transport,
            _check_documents,
        ),
    )
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
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON list of texts."),
    )
    env_json = declare_column(
        document(
            null=True,
            blank=True,
            verbose_name="environment",
            help_text="Only for local processes: a JSON object of texts.",
        ),
        shape=dict,
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON object."),
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
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON object."),
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
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON list of texts."),
    )
    timeout_ms = declare_column(
        models.IntegerField("time limit (ms)", default=10_000, db_default=10_000, validators=[MinValueValidator(1)]),
        bounds=Bounds(
            100,
            300_000,
            ColumnProblem("OUT_OF_RANGE", "The limit must be a whole number from 100 to 300000 (milliseconds)."),
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
