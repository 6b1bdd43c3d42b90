"""`ce_mcp_tool`: the registry of tools and where they may be used."""

from collections.abc import Iterator
from typing import Any

from django.db import models
from django.db.models.functions import Lower

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import NAME_FORMAT, document, flag, make_enabled_field, note, word
from config_admin.tables.output_schema import check_json_schema
from config_admin.validation import common, relations
from config_admin.validation.columns import ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.params import KEY_SHAPE

Tool = Draft[rows.Tool]
#: Groups that a row may choose; discovered tools have MCP_SERVER without a row.
GROUPS = tuple(group for group in ToolGroup if group is not ToolGroup.MCP_SERVER)


def check_group(draft: Draft[Any]) -> Iterator[Finding]:
    """A known group, or one with an executor of an extension."""
    if code(draft.row.tool_group) not in {*GROUPS, *draft.world.executors} - {ToolGroup.MCP_SERVER}:
        yield draft.error("CHOICE_UNKNOWN", "tool_group", f"Choose one of {', '.join(GROUPS)}.")


def check_executor(draft: Draft[Any]) -> Iterator[Finding]:
    if code(draft.row.tool_group) not in draft.world.executors:
        yield draft.warning(
            "NO_EXECUTOR", "tool_group", f"No executor is installed for group {code(draft.row.tool_group)}."
        )


def _check_code(draft: Tool) -> Iterator[Finding]:
    if KEY_SHAPE.match(draft.row.tool_code or "") is None:
        yield draft.error(
            "CODE_FORMAT",
            "tool_code",
            (
                "Use only letters, digits, underscores, dots and hyphens, at most 120 characters (for example "
                "order.status)."
            ),
        )


def _check_input_schema(draft: Tool) -> Iterator[Finding]:
    schema = as_json(draft.row.input_schema)
    if isinstance(schema, dict) and schema is not UNREADABLE:
        yield from check_json_schema(draft, "input_schema", schema)


_check_unique_code = common.make_unique_check(
    relations.tool_code_key, "tool_code", "The tool {row.tool_code} already exists (row {other.pk})."
)
_check_any_scope = common.make_any_scope_check(
    "TOOL_SCOPE_ANY", "Every intent and state may call this tool. Narrow the scope unless this is intended."
)


def _check_scope(draft: Tool) -> Iterator[Finding]:
    """A scope, unless only rows of `ce_tool` call the tool. With a model, the planner runs for it in every state."""
    direct = draft.snapshot.enabled_rows(rows.DirectTool)
    is_called = any(code(row.tool_code) == code(draft.row.tool_code) for row in direct)
    if draft.world.model_configured or not is_called:
        yield from _check_any_scope(draft)


def _check_implementation(draft: Tool) -> Iterator[Finding]:
    """A tool of these groups needs a row of its own, or a handler in code."""
    row = draft.row
    if row.tool_code in draft.world.tool_handlers:
        return
    if code(row.tool_group) == ToolGroup.DB and draft.snapshot.row(rows.DbTool, row.pk) is None:
        yield draft.warning(
            "DB_TOOL_WITHOUT_SQL",
            None,
            (f"The tool {row.tool_code} has no SQL template and no registered handler. Add one of them."),
        )
    if code(row.tool_group) == ToolGroup.HTTP_API and draft.snapshot.row(rows.HttpTool, row.pk) is None:
        yield draft.warning("HTTP_TOOL_WITHOUT_HANDLER", None, f"No handler is registered for {row.tool_code}.")
    registered, (task, _, method) = draft.world.tasks, row.tool_code.rpartition(".")
    has_task = row.tool_code in registered or method in registered.get(task, ())
    if code(row.tool_group) == ToolGroup.WORKFLOW_ACTION and not has_task:
        tasks = join_names(f"{name}.{method}" for name, methods in registered.items() for method in methods)
        yield draft.warning(
            "NOT_REGISTERED", "tool_code", f"No handler and no task is registered for {row.tool_code}. Tasks: {tasks}."
        )


class CeMcpTool(ScopedRow):
    """A tool. Its code is unique, so it has exactly one scope."""

    save_checks = SaveChecks(
        form=(_check_code, _check_unique_code, check_group, _check_input_schema),
        fit=(_check_scope, _check_implementation, check_executor),
    )
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool_id = models.BigAutoField("id", primary_key=True)
    tool_code = declare_column(
        models.CharField(
            "code",
            max_length=120,
            validators=[NAME_FORMAT],
            help_text="Letters, digits, underscores, dots and hyphens, for example order.status.",
        ),
        is_code=True,
    )
    tool_group = word(ToolGroup, unknown=None, verbose_name="group")
    read_only = flag(True, help_text="The tool only reads and changes nothing in other systems.")
    input_schema = declare_column(
        document(null=True, blank=True, help_text="JSON Schema of the arguments, for groups without their own form."),
        shape=dict,
        misshapen=ColumnProblem("SHAPE_INVALID", "The schema of the arguments must be a JSON object."),
    )
    enabled = make_enabled_field()
    description = declare_column(
        note("The planner chooses the tool by this text."),
        recommended=ColumnProblem(
            "TOOL_NO_DESCRIPTION", "The planner knows the tool only by this text. Describe what the tool does."
        ),
    )

    class Meta(ScopedRow.Meta):
        db_table = "ce_mcp_tool"
        verbose_name = "tool"
        indexes = [
            index("ce_mcp_tool_lookup", "enabled", "intent_code", "state_code", "tool_group", "tool_code"),
        ]
        constraints = [
            *ScopedRow.Meta.constraints,
            models.UniqueConstraint(
                Lower("tool_code"),
                name="ce_mcp_tool_code_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="A tool with this code already exists.",
            ),
        ]
