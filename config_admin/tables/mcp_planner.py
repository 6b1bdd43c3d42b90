"""`ce_mcp_planner`: planner prompts of an intent and state."""

import re
from collections.abc import Iterator

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import make_enabled_field
from config_admin.validation import common, relations
from config_admin.validation.columns import TEMPLATE, ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.prompts import render
from convengine.engine.text.compare import code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.server.interfaces.older_templates import to_jinja

Planner = Draft[rows.Planner]
#: The names under which a planner's prompt may show the tools.
TOOL_NAMES = frozenset({"mcp_tools", "tools", "available_tools", "tool_list", "mcpTools"})
_NAMED_TOOL = re.compile(r"`([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)`")


def _check_tools_variable(draft: Planner) -> Iterator[Finding]:
    used = render.list_names(to_jinja(draft.row.system_prompt)) | render.list_names(to_jinja(draft.row.user_prompt))
    if not {name.split(".")[0] for name in used} & TOOL_NAMES:
        yield draft.warning(
            "PLANNER_NO_TOOLS_VAR",
            "user_prompt",
            "The prompt does not contain {{mcp_tools}}, so the planner does not know the tools. Add it.",
        )


def _check_tool_names(draft: Planner) -> Iterator[Finding]:
    """Dotted codes in back-ticks limit the planner's list; `mcp.…` names a discovered tool, which has no row."""
    row = draft.row
    available = {
        tool.tool_code.lower(): tool.tool_code
        for tool in relations.find_rows_sharing_scope(draft.snapshot, rows.Tool, row.intent_code, row.state_code)
    }
    for field, text in (("system_prompt", row.system_prompt), ("user_prompt", row.user_prompt)):
        for name in dict.fromkeys(_NAMED_TOOL.findall(text)):
            if name.lower() not in available and not name.startswith("mcp."):
                hint = did_you_mean(name, available.values())
                yield draft.warning(
                    "PLANNER_TOOL_UNKNOWN",
                    field,
                    f"{name} is not a tool for intent {code(row.intent_code)}, state {code(row.state_code)}.{hint}",
                )


_check_duplicate_scope = common.make_rival_check(
    "TWO_PLANNERS", None, "Row {other.pk} has the same scope. The newer one is used."
)


class CeMcpPlanner(ScopedRow):
    """The prompts with which a model plans tool calls. Among equals, the highest id is used."""

    save_checks = SaveChecks(fit=(_check_tools_variable, _check_tool_names, _check_duplicate_scope))
    natural_key = NaturalKey(("intent_code", "state_code"))

    planner_id = models.BigAutoField("id", primary_key=True)
    system_prompt = declare_column(
        models.TextField(),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the system prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="The system prompt of the planner.",
    )
    user_prompt = declare_column(
        models.TextField(help_text="Must contain {{mcp_tools}}, otherwise the planner does not know the tools."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the user prompt."),
        language=TEMPLATE,
        is_strict=True,
    )
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_mcp_planner"
        verbose_name = "planner prompt"
        indexes = [index("ce_mcp_planner_lookup", "enabled", "intent_code", "state_code", "planner_id")]
