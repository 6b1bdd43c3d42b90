"""Save checks of `ce_tool`, the tools that an intent and state call directly (tables 4.2; R15)."""

from collections.abc import Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.mcp_tool import group, no_executor
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows, settings
from convengine.domain.catalogue.tools import ALLOW_GROUP_ONLY
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code

DirectTool = Draft[rows.DirectTool]


def _tool(draft: DirectTool) -> Iterator[Finding]:
    row = draft.row
    if blank(row.tool_code):
        if not settings.read(draft.snapshot, ALLOW_GROUP_ONLY).value:
            yield draft.error(
                "CONFLICT",
                "tool_code",
                "Choose a tool. A group alone is only called when ToolOrchestrationStep / ALLOW_GROUP_ONLY is on.",
            )
        return
    found = relations.tool(draft.snapshot, row.tool_code)
    if found is None:
        yield tool_unknown(draft)
    elif code(found.tool_group) != code(row.tool_group):
        yield draft.error(
            "TOOL_GROUP_MISMATCH", "tool_group", f"{found.tool_code} belongs to group {found.tool_group}."
        )


def tool_unknown(draft: Draft[Any]) -> Finding:
    """What is said of a tool code that no tool has."""
    name = str(draft.row.tool_code)
    hint = did_you_mean(name, (tool.tool_code for tool in draft.snapshot.rows(rows.Tool)))
    return draft.error("TOOL_UNKNOWN", "tool_code", f"There is no tool {name}.{hint}")


def param_schema(snapshot: Snapshot, tool: rows.Tool) -> Any:
    """The schema of a tool's arguments, wherever it is kept; null when there is none (R70)."""
    found = snapshot.row(rows.DbTool, tool.tool_id) or snapshot.row(rows.HttpTool, tool.tool_id)
    return as_json(found.param_schema if found else tool.input_schema)


def _args(draft: DirectTool) -> Iterator[Finding]:
    row = draft.row
    yield from programs.json_document(draft, "args_template")
    args = as_json(row.args_template)
    if args is UNREADABLE:
        return
    if not isinstance(args, dict):
        yield draft.error("ARGS_SHAPE", "args_template", "Arguments must be a JSON object.")
        return
    for text in texts(args):
        yield from programs.template(draft, "args_template", text, intent=row.intent_code)
    tool = relations.tool(draft.snapshot, row.tool_code)
    schema = param_schema(draft.snapshot, tool) if tool else None
    wanted = schema.get("required") if isinstance(schema, dict) else None
    for name in wanted if isinstance(wanted, list) else ():
        if name not in args:
            yield draft.error("FIELD_REQUIRED", "args_template", f"{row.tool_code} needs {name}.")


def texts(document: Any) -> Iterator[str]:
    """Every text value of a JSON document: where templates may stand."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from texts(value)


def _tool_scope(draft: DirectTool) -> Iterator[Finding]:
    row, tool = draft.row, relations.tool(draft.snapshot, draft.row.tool_code)
    if tool is None:
        return
    if not tool.enabled:
        yield draft.warning(
            "TOOL_SCOPE", "tool_code", f"{tool.tool_code} is disabled; this row would always be skipped."
        )
        return
    fits = relations.scope_fits(code(tool.intent_code), code(row.intent_code)) and relations.scope_fits(
        code(tool.state_code), code(row.state_code)
    )
    if not fits:
        yield draft.warning(
            "TOOL_SCOPE",
            "tool_code",
            f"{tool.tool_code} is only allowed for {code(tool.intent_code)}/{code(tool.state_code)}; this row would "
            "always be skipped.",
        )


def _shadowed(draft: DirectTool) -> Iterator[Finding]:
    yield from common.shadowed_row(draft)


FORM: tuple[Check, ...] = (common.scope, group, common.priority, _tool, _args)
FIT: tuple[Check, ...] = (common.scope_fit, _tool_scope, no_executor, common.duplicate_row, _shadowed)
