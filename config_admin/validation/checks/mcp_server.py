"""Save checks of `ce_mcp_server` (tables 4.8, pipeline-2 4.9)."""

import re
from collections.abc import Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import as_json
from config_admin.validation.wording import listed
from convengine.domain import rows
from convengine.domain.enums import McpTransport
from convengine.domain.text import code
from convengine.mcp_client.policy import Policy

Server = Draft[rows.McpServer]
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def _key(row: Any) -> str:
    return (row.name or "").strip().lower()


def _name(draft: Server) -> Iterator[Finding]:
    if _NAME.fullmatch(draft.row.name or "") is None:
        yield draft.error("CODE_FORMAT", "name", "Use letters, digits, _ and - only; no dots.")
    for other in draft.others(relations.all_by(draft.snapshot, rows.McpServer, _key).get(_key(draft.row), ())):
        yield draft.error("DUPLICATE", "name", f"Server {draft.row.name} exists already (row {other.pk}).")


def _transport(draft: Server) -> Iterator[Finding]:
    yield from common.choice(draft, "transport", list(McpTransport))
    transport = code(draft.row.transport)
    if transport == McpTransport.STDIO:
        yield from _command(draft)
    elif transport in (McpTransport.HTTP, McpTransport.SSE):
        yield from _url(draft)


def _url(draft: Server) -> Iterator[Finding]:
    url, hosts = draft.row.url or "", draft.world.server_hosts
    if not re.match(r"https?://[^\s/]+", url):
        yield draft.error("FIELD_REQUIRED", "url", "Enter the server's address, beginning with https:// or http://.")
    elif not Policy(hosts=hosts).host_allowed(url):
        yield draft.error("NOT_REGISTERED", "url", f"This host is not allowed here. Allowed: {listed(hosts)}.")


def _command(draft: Server) -> Iterator[Finding]:
    allowed = draft.world.stdio_commands
    yield from common.required(draft, "command", f"Choose the command to start. Allowed: {listed(allowed)}.")
    if draft.row.command and draft.row.command not in allowed:
        yield draft.error("NOT_REGISTERED", "command", f"This command is not allowed here. Allowed: {listed(allowed)}.")


def _documents(draft: Server) -> Iterator[Finding]:
    for field in ("args_json", "allowed_tools_json"):
        yield from programs.shape(draft, field, list, "This must be a JSON list of texts.")
    for field in ("env_json", "headers_json"):
        yield from programs.shape(draft, field, dict, "This must be a JSON object.")
        yield from _secrets(draft, field)


def _secrets(draft: Server, field: str) -> Iterator[Finding]:
    """Secrets are named; a row, its history and its exports hold none."""
    pairs = as_json(getattr(draft.row, field))
    for name, value in pairs.items() if isinstance(pairs, dict) else ():
        if common.CREDENTIAL.search(name) and value and "${" not in str(value):
            yield draft.error(
                "SECRET_IN_CONFIG",
                field,
                f"{name} holds a secret: write ${{NAME}}, and let the deployment set CE_MCP_SECRET_NAME.",
            )


def _timeout(draft: Server) -> Iterator[Finding]:
    value = draft.row.timeout_ms
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 300_000:
        yield draft.error("OUT_OF_RANGE", "timeout_ms", "The limit must be a whole number from 100 to 300000.")


FORM: tuple[Check, ...] = (_name, common.scope, _transport, _documents, _timeout)
FIT: tuple[Check, ...] = (common.scope_fit,)
