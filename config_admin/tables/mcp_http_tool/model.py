"""`ce_mcp_http_tool`: an HTTP call behind a tool."""

import re
from collections.abc import Iterator
from typing import Any

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.mcp_db_tool import check_argument_schema, check_tool_group
from config_admin.tables.mcp_tool import CeMcpTool
from config_admin.tables.model_fields import document, optional_text, word
from config_admin.validation import common, programs, relations
from config_admin.validation.columns import TEMPLATE, ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import as_json
from config_admin.validation.uses import list_texts
from convengine.engine.prompts import render
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import HttpMethod, MappingMode, ToolGroup
from convengine.engine.turn.scope import ANY
from convengine.server.deployment.environment import suggest_variable
from convengine.server.executors import settings as executors
from convengine.server.interfaces.older_templates import to_jinja

HttpTool = Draft[rows.HttpTool]
_BODILESS = (HttpMethod.GET, HttpMethod.HEAD, HttpMethod.DELETE)
_REPEATABLE = (HttpMethod.GET, HttpMethod.HEAD, HttpMethod.PUT, HttpMethod.DELETE)
#: The allowed keys of `policy_json`: the settings of HTTP calls, in lower case.
POLICY_KEYS = frozenset(
    {setting.key.lower() for setting in live_settings.CATALOGUE.values() if setting.type == executors.HTTP_FAMILY}
    | {"retry_non_idempotent"}
)


def _check_tool(draft: HttpTool) -> Iterator[Finding]:
    yield from check_tool_group(
        draft, ToolGroup.HTTP_API, "{tool} is in group {group}. Only tools in group HTTP_API make HTTP calls."
    )


def _check_connection(draft: HttpTool) -> Iterator[Finding]:
    name, known = draft.row.connection_name, draft.world.http_connections
    if not name:
        yield draft.error("CONNECTION_UNKNOWN", "connection_name", f"Choose a connection. Known: {join_names(known)}.")
    elif name not in known and draft.world.is_deployed:
        yield draft.error(
            "CONNECTION_UNKNOWN",
            "connection_name",
            f"The connection {name} does not exist.{did_you_mean(name, known)} Known: {join_names(known)}. "
            f"{suggest_variable('CE_HTTP_CONNECTIONS')}",
        )


def _check_address(draft: HttpTool) -> Iterator[Finding]:
    if re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", draft.row.url_template or "", re.IGNORECASE):
        yield draft.error("SHAPE_INVALID", "url_template", "Enter the path only. The host comes from the connection.")


def _check_body(draft: HttpTool) -> Iterator[Finding]:
    method = code(draft.row.method)
    if method in _BODILESS and not blank(draft.row.body_template):
        yield draft.error("CONFLICT", "body_template", f"{method} requests have no body. Remove it.")


def _check_headers_and_policy(draft: HttpTool) -> Iterator[Finding]:
    row, headers = draft.row, _read_object(draft.row.headers_json)
    for name in headers:
        if common.CREDENTIAL.search(name):
            yield draft.error(
                "CONFLICT", "headers_json", "Do not store credentials here. Configure them in the connection."
            )
    # Rows, their history and their exports contain no secrets, whatever their names are.
    texts = [("url_template", "", row.url_template), ("body_template", "", row.body_template)]
    texts += [("headers_json", "", value) for value in headers.values()]
    texts += [("query_json", str(name), value) for name, value in _read_object(row.query_json).items()]
    for field in dict.fromkeys(field for field, name, text in texts if common.is_secret(name, text)):
        yield draft.error("SECRET_IN_CONFIG", field, "Do not store secrets here. Configure them in the connection.")
    for name in _read_object(row.policy_json):
        if str(name).lower().replace("-", "_") not in POLICY_KEYS:
            hint = did_you_mean(str(name), POLICY_KEYS)
            yield draft.error("CHOICE_UNKNOWN", "policy_json", f"{name} is not a setting of HTTP calls.{hint}")


def _read_object(value: Any) -> dict[str, Any]:
    document = as_json(value)
    return document if isinstance(document, dict) else {}


def _check_templates(draft: HttpTool) -> Iterator[Finding]:
    row, declared = draft.row, relations.get_properties(draft.row.param_schema)
    places = [("url_template", row.url_template), ("body_template", row.body_template)]
    for field in ("headers_json", "query_json"):
        places += [(field, text) for text in list_texts(_read_object(getattr(row, field)))]
    for field, text in places:
        findings = [finding for finding in programs.check_template(draft, field, text, intent=ANY) if finding.is_error]
        yield from findings
        if findings or not text:
            continue
        for name in sorted({name.split(".")[0] for name in render.list_names(to_jinja(text))} - declared.keys()):
            yield draft.error("CHOICE_UNKNOWN", field, f"{name} is not in the parameter schema.")


def _check_mapping(draft: HttpTool) -> Iterator[Finding]:
    mode, mapping = code(draft.row.mapping_mode), _read_object(draft.row.mapping_json)
    if mode == MappingMode.JSON_PATH:
        yield from programs.check_json_path(draft, "mapping_json", mapping.get("jsonPath"))
    elif mode == MappingMode.FIELD_TEMPLATE:
        paths = mapping.get("fieldPaths")
        if not isinstance(paths, dict) or not paths or not all(isinstance(path, str) for path in paths.values()):
            yield draft.error(
                "SHAPE_INVALID",
                "mapping_json",
                'Use JSON like {"fieldPaths":{"status":"$.status"}}: one path for each field.',
            )
            return
        for path in paths.values():
            yield from programs.check_json_path(draft, "mapping_json", path)
    elif mode == MappingMode.MAPPER_CLASS and mapping.get("mapper") not in draft.world.mappers:
        yield draft.error(
            "NOT_REGISTERED",
            "mapping_json",
            f"There is no registered mapper {mapping.get('mapper')}. Registered: {join_names(draft.world.mappers)}.",
        )


def _check_retries(draft: HttpTool) -> Iterator[Finding]:
    policy = {str(name).lower().replace("-", "_"): value for name, value in _read_object(draft.row.policy_json).items()}
    repeats = truthy(policy.get("retry_non_idempotent")) and policy.get("max_attempts") != 1
    if repeats and code(draft.row.method) not in _REPEATABLE:
        yield draft.warning(
            "CONFLICT", "policy_json", "A retried call may run twice. Retry only calls that are safe to repeat."
        )


def any_object() -> dict[str, Any]:
    """The schema that allows any arguments."""
    return {"type": "object"}


_OBJECT = ColumnProblem("SHAPE_INVALID", "This must be a JSON object.")


class CeMcpHttpTool(ControlPlaneRow):
    """One row per tool of group HTTP_API that has no handler in code."""

    save_checks = SaveChecks(
        form=(
            _check_tool,
            _check_connection,
            _check_address,
            _check_body,
            check_argument_schema,
            _check_headers_and_policy,
            _check_templates,
            _check_mapping,
        ),
        fit=(_check_retries,),
    )
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="http_tool")
    connection_name = declare_column(
        models.CharField("connection", help_text="The name of a connection of this deployment."),
        reference=Reference.CONNECTION,
    )
    method = word(HttpMethod, default=HttpMethod.GET.value)
    url_template = declare_column(
        models.TextField("path", help_text="The path only. The host comes from the connection."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the path below the connection's address."),
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
