"""Save checks of `ce_mcp_tool`, the registry of tools (tables 4.3)."""

from collections.abc import Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.output_schema import valid_schema
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.wording import listed
from convengine.domain import rows
from convengine.domain.enums import ToolGroup
from convengine.domain.params import KEY_SHAPE
from convengine.domain.scope import ANY
from convengine.domain.text import blank, code

Tool = Draft[rows.Tool]
#: Groups that a row may choose; discovered tools have MCP_SERVER without a row.
GROUPS = tuple(group for group in ToolGroup if group is not ToolGroup.MCP_SERVER)


def group(draft: Draft[Any]) -> Iterator[Finding]:
    """A known group, or one that an extension installed an executor for."""
    yield from common.choice(
        draft,
        "tool_group",
        GROUPS,
        extra=draft.world.executors - {ToolGroup.MCP_SERVER},
        message=f"Choose one of {', '.join(GROUPS)}.",
    )


def no_executor(draft: Draft[Any]) -> Iterator[Finding]:
    """Something is installed that can run tools of the group."""
    if code(draft.row.tool_group) not in draft.world.executors:
        yield draft.warning(
            "NO_EXECUTOR", "tool_group", f"No executor is installed for group {code(draft.row.tool_group)}."
        )


def _code(draft: Tool) -> Iterator[Finding]:
    name = draft.row.tool_code or ""
    if KEY_SHAPE.match(name) is None:
        yield draft.error(
            "CODE_FORMAT", "tool_code", "Use letters, digits, _ . - only, at most 120 (for example order.status)."
        )
    for other in draft.others(_same_code(draft)):
        yield draft.error("DUPLICATE", "tool_code", f"Tool {name} exists already (row {other.pk}).")


def _same_code(draft: Tool) -> tuple[rows.Tool, ...]:
    by_code = relations.all_by(draft.snapshot, rows.Tool, relations.tool_code_key)
    return by_code.get(relations.tool_code_key(draft.row), ())


def _input_schema(draft: Tool) -> Iterator[Finding]:
    yield from programs.shape(draft, "input_schema", dict, "The schema of the arguments must be a JSON object.")
    schema = as_json(draft.row.input_schema)
    if isinstance(schema, dict) and schema is not UNREADABLE:
        yield from valid_schema(draft, "input_schema", schema)


def _described(draft: Tool) -> Iterator[Finding]:
    if blank(draft.row.description):
        yield draft.warning("TOOL_NO_DESCRIPTION", "description", "The planner only knows this text about the tool.")


def _everywhere(draft: Tool) -> Iterator[Finding]:
    if relations.scope_key(draft.row) == (ANY, ANY):
        yield draft.warning("TOOL_SCOPE_ANY", "intent_code", "Every intent and state may call this tool.")


def _backed(draft: Tool) -> Iterator[Finding]:
    """A tool of these groups needs a row of its own, or a handler in code."""
    row = draft.row
    if row.tool_code in draft.world.tool_handlers:
        return
    if code(row.tool_group) == ToolGroup.DB and draft.snapshot.row(rows.DbTool, row.pk) is None:
        yield draft.warning(
            "DB_TOOL_WITHOUT_SQL", None, f"No SQL template and no handler is registered for {row.tool_code}."
        )
    if code(row.tool_group) == ToolGroup.HTTP_API and draft.snapshot.row(rows.HttpTool, row.pk) is None:
        yield draft.warning("HTTP_TOOL_WITHOUT_HANDLER", None, f"No handler is registered for {row.tool_code}.")
    if code(row.tool_group) == ToolGroup.WORKFLOW_ACTION and not _task_of(draft):
        tasks = listed(f"{name}.{method}" for name, methods in draft.world.tasks.items() for method in methods)
        yield draft.warning(
            "NOT_REGISTERED", "tool_code", f"No handler and no task is registered for {row.tool_code}. Tasks: {tasks}."
        )


def _task_of(draft: Tool) -> bool:
    """True when the code names a task, or a method of one."""
    task, _, method = draft.row.tool_code.rpartition(".")
    return draft.row.tool_code in draft.world.tasks or method in draft.world.tasks.get(task, ())


FORM: tuple[Check, ...] = (_code, group, common.scope, _input_schema)
FIT: tuple[Check, ...] = (common.scope_fit, _described, _everywhere, _backed, no_executor)
