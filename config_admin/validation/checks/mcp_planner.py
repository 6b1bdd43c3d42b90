"""Save checks of `ce_mcp_planner` (tables 4.5)."""

import re
from collections.abc import Iterator

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows
from convengine.domain.text import code
from convengine.prompts import render

Planner = Draft[rows.Planner]
#: The names under which a planner's prompt may show the tools (settings 7.2).
TOOL_NAMES = frozenset({"mcp_tools", "tools", "available_tools", "tool_list", "mcpTools"})
_NAMED_TOOL = re.compile(r"`([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)`")


def _prompts(draft: Planner) -> Iterator[Finding]:
    for field, kind in (("system_prompt", "system"), ("user_prompt", "user")):
        yield from common.required(draft, field, f"Enter the {kind} prompt.")
        yield from programs.template(draft, field, getattr(draft.row, field), intent=draft.row.intent_code)


def _shows_tools(draft: Planner) -> Iterator[Finding]:
    used = render.names(draft.row.system_prompt) | render.names(draft.row.user_prompt)
    if not {name.split(".")[0] for name in used} & TOOL_NAMES:
        yield draft.warning(
            "PLANNER_NO_TOOLS_VAR",
            "user_prompt",
            "The prompt does not show {{mcp_tools}}; the planner would not know the tools.",
        )


def _named_tools(draft: Planner) -> Iterator[Finding]:
    """Dotted codes in back-ticks narrow the planner's list; `mcp.…` names a discovered tool, which has no row."""
    row = draft.row
    available = {
        tool.tool_code.lower(): tool.tool_code
        for tool in relations.sharing_scope(draft.snapshot, rows.Tool, row.intent_code, row.state_code)
    }
    for field, text in (("system_prompt", row.system_prompt), ("user_prompt", row.user_prompt)):
        for name in dict.fromkeys(_NAMED_TOOL.findall(text)):
            if name.lower() not in available and not name.startswith("mcp."):
                hint = did_you_mean(name, available.values())
                yield draft.warning(
                    "PLANNER_TOOL_UNKNOWN",
                    field,
                    f"{name} is no tool that {code(row.intent_code)}/{code(row.state_code)} may call.{hint}",
                )


def _two(draft: Planner) -> Iterator[Finding]:
    for other in draft.others(relations.same_scope(draft.snapshot, draft.row)):
        if draft.row.enabled:
            yield draft.warning("TWO_PLANNERS", None, f"Row {other.pk} has the same scope; the newer one is used.")
            return


FORM: tuple[Check, ...] = (common.scope, _prompts)
FIT: tuple[Check, ...] = (common.scope_fit, _shows_tools, _named_tools, _two)
