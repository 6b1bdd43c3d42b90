"""Save checks of `ce_mcp_server`."""

import re
from collections.abc import Iterator
from typing import Any

from config_admin.validation import common
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
from config_admin.validation.relations import as_json
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import McpTransport
from convengine.server.deployment.environment import suggest_variable
from convengine.server.mcp_client.policy import Policy

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
        elif world.is_deployed and not Policy(hosts=hosts).allows_host(url):
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
    texts = [("url", draft.row.url)]
    if isinstance(arguments, list):
        texts += [("args_json", text) for text in arguments]
    for field in dict.fromkeys(field for field, text in texts if common.is_secret("", text)):
        yield draft.error(
            "SECRET_IN_CONFIG",
            field,
            "This contains a secret. Pass it as a header or in the environment: write ${NAME} there and set "
            "CE_MCP_SECRET_NAME in the deployment.",
        )


SAVE_CHECKS = SaveChecks(
    form=(
        _check_name,
        common.make_unique_check(_get_name_key, "name", "The server {row.name} already exists (row {other.pk})."),
        _check_transport,
        _check_documents,
    ),
)
