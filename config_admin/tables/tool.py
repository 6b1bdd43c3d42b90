"""`ce_tool`: which tool an intent and state call without a planner."""

from collections.abc import Iterator
from typing import Any

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.mcp_tool import check_executor, check_group
from config_admin.tables.model_fields import document, flag, make_enabled_field, note, optional_name, priority, word
from config_admin.validation import common, programs, relations
from config_admin.validation.columns import NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.uses import list_texts
from convengine.engine.steps.tools.scope import find_server, split_tool_name
from convengine.engine.steps.tools.settings import ALLOW_GROUP_ONLY
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.snapshot import Snapshot

DirectTool = Draft[rows.DirectTool]


def _check_tool(draft: DirectTool) -> Iterator[Finding]:
    row = draft.row
    if blank(row.tool_code):
        if not live_settings.read(draft.snapshot, ALLOW_GROUP_ONLY).value:
            yield draft.error(
                "CONFLICT",
                "tool_code",
                f"Choose a tool. A group alone is only called if “{ALLOW_GROUP_ONLY.label}” is on in the settings.",
            )
        return
    tool = relations.find_tool(draft.snapshot, row.tool_code)
    if tool is None:
        yield from _check_server_tool(draft)
    elif code(tool.tool_group) != code(row.tool_group):
        yield draft.error("TOOL_GROUP_MISMATCH", "tool_group", f"{tool.tool_code} belongs to group {tool.tool_group}.")


def _check_server_tool(draft: DirectTool) -> Iterator[Finding]:
    """A tool without a row is one of an MCP server, which only lists its tools when it is asked."""
    row = draft.row
    server = find_server(draft.snapshot, row.tool_code or "")
    allowed = server.allowed_tools_json if server else None
    if server is None or (isinstance(allowed, (list, tuple)) and split_tool_name(row.tool_code or "") not in allowed):
        yield report_unknown_tool(draft)
    elif code(row.tool_group) != ToolGroup.MCP_SERVER:
        message = f"{row.tool_code} belongs to group {ToolGroup.MCP_SERVER}."
        yield draft.error("TOOL_GROUP_MISMATCH", "tool_group", message)


def report_unknown_tool(draft: Draft[Any]) -> Finding:
    """The message for an unknown tool code."""
    name = str(draft.row.tool_code)
    known = [tool.tool_code for tool in draft.snapshot.rows(rows.Tool)]
    hint = did_you_mean(name, [*known, *relations.list_server_tools(draft.snapshot)])
    return draft.error("TOOL_UNKNOWN", "tool_code", f"There is no tool {name}.{hint}")


def find_argument_schema(snapshot: Snapshot, tool: rows.Tool) -> Any:
    executor_row = snapshot.row(rows.DbTool, tool.tool_id) or snapshot.row(rows.HttpTool, tool.tool_id)
    return as_json(executor_row.param_schema if executor_row else tool.input_schema)


def _check_arguments(draft: DirectTool) -> Iterator[Finding]:
    row = draft.row
    args = as_json(row.args_template)
    if args is UNREADABLE:
        return
    if not isinstance(args, dict):
        yield draft.error("ARGS_SHAPE", "args_template", "Arguments must be a JSON object.")
        return
    for text in list_texts(args):
        yield from programs.check_template(draft, "args_template", text, intent=row.intent_code)
    tool = relations.find_tool(draft.snapshot, row.tool_code)
    schema = find_argument_schema(draft.snapshot, tool) if tool else None
    wanted = schema.get("required") if isinstance(schema, dict) else None
    for name in wanted if isinstance(wanted, list) else ():
        if name not in args:
            yield draft.error(
                "FIELD_REQUIRED", "args_template", f"The tool {row.tool_code} requires the argument {name}."
            )


def _check_group(draft: DirectTool) -> Iterator[Finding]:
    """Tools of MCP servers have a group that no row of a tool has."""
    if find_server(draft.snapshot, draft.row.tool_code or "") is None:
        yield from check_group(draft)


def _check_tool_scope(draft: DirectTool) -> Iterator[Finding]:
    row, snapshot = draft.row, draft.snapshot
    tool = relations.find_tool(snapshot, row.tool_code) or find_server(snapshot, row.tool_code or "")
    if tool is None:
        return
    name = tool.tool_code if isinstance(tool, rows.Tool) else f"The MCP server {tool.name}"
    if not tool.enabled:
        yield draft.warning(
            "TOOL_SCOPE", "tool_code", f"{name} is disabled, so this call is always skipped. Enable the tool."
        )
        return
    fits = relations.scope_fits(code(tool.intent_code), code(row.intent_code)) and relations.scope_fits(
        code(tool.state_code), code(row.state_code)
    )
    if not fits:
        yield draft.warning(
            "TOOL_SCOPE",
            "tool_code",
            (
                f"{name} is only allowed for intent {code(tool.intent_code)}, state {code(tool.state_code)},"
                " so this call is always skipped."
            ),
        )


class CeTool(ScopedRow):
    """A direct tool call."""

    save_checks = SaveChecks(
        form=(_check_group, _check_tool, _check_arguments),
        fit=(_check_tool_scope, check_executor, common.check_duplicate_row, common.make_shadowing_check()),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "tool_group", "tool_code"))

    ce_tool_id = models.BigAutoField("id", primary_key=True)
    tool_group = word(ToolGroup, unknown=None)
    tool_code = declare_column(
        optional_name(verbose_name="tool", help_text="The code of a tool. If empty, the tool group is called."),
        reference=Reference.TOOL,
        depends_on="tool_group",
    )
    args_template = document(
        default=dict,
        verbose_name="arguments",
        help_text='Values may be templates, for example {"orderId": "{{context.orderNumber}}"}.',
    )
    run_once = flag(True, help_text="After a successful call, do not repeat it with the same arguments.")
    priority = priority()
    enabled = make_enabled_field()
    description = note()

    class Meta(ScopedRow.Meta):
        db_table = "ce_tool"
        verbose_name = "direct tool call"
        indexes = [index("ce_tool_lookup", "enabled", "intent_code", "state_code", "priority")]
