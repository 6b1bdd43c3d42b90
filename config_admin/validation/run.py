"""The save checks, run: what is wrong with one row, with deleting it, or with the edit itself (tables 1.8)."""

from collections.abc import Collection, Mapping
from types import ModuleType

from config_admin.validation import references
from config_admin.validation.checks import (
    classifier,
    config,
    container_config,
    intent,
    mcp_db_tool,
    mcp_http_tool,
    mcp_planner,
    mcp_server,
    mcp_sql_guardrail,
    mcp_tool,
    output_schema,
    pending_action,
    policy,
    prompt_template,
    response,
    rule,
    state_graph,
    tool,
    types,
    verbose,
)
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot

_CHECKS: Mapping[type[Row], ModuleType] = {
    rows.Intent: intent,
    rows.Classifier: classifier,
    rows.Rule: rule,
    rows.StateEdge: state_graph,
    rows.Policy: policy,
    rows.OutputSchema: output_schema,
    rows.PromptTemplate: prompt_template,
    rows.Response: response,
    rows.ContainerConfig: container_config,
    rows.PendingAction: pending_action,
    rows.DirectTool: tool,
    rows.Tool: mcp_tool,
    rows.DbTool: mcp_db_tool,
    rows.HttpTool: mcp_http_tool,
    rows.Planner: mcp_planner,
    rows.SqlGuardrail: mcp_sql_guardrail,
    rows.McpServer: mcp_server,
    rows.Config: config,
    rows.Verbose: verbose,
}


def check_row(
    row: Row, snapshot: Snapshot, world: World, *, replaces: Row | None = None, leaving_out: Collection[Check] = ()
) -> list[Finding]:
    """Everything that is wrong with a row that is about to be saved; errors keep it from being saved.

    `snapshot` is the configuration in force. A new row has a null key. `replaces` is the stored row when its key
    changes with this edit; `leaving_out` are checks that are not made. Each kind of check is made only once the one
    before found no error: values of the right kinds, a well-formed row, a row that goes with the others.
    """
    module, draft = _CHECKS[type(row)], Draft(row, snapshot, world, replaces)
    found: list[Finding] = []
    for checks in ((types.of_columns,), module.FORM, module.FIT):
        found += [finding for check in checks if check not in leaving_out for finding in check(draft)]
        if any(finding.is_error for finding in found):
            break
    return list({(each.code, each.field, each.message): each for each in found}.values())


def check_delete(row: Row, snapshot: Snapshot) -> list[Finding]:
    """Why a stored row must not be deleted: others name it, or it is the last fallback answer."""
    draft = Draft(row, snapshot, World())
    found: list[Finding] = []
    if naming := references.referring(snapshot, row):
        name = (
            row.tool_code if isinstance(row, rows.Tool) else f"rule {row.pk}" if isinstance(row, rows.Rule) else row.pk
        )
        found.append(
            draft.error(
                "IN_USE",
                None,
                f"{len(naming)} {'row refers' if len(naming) == 1 else 'rows refer'} to {name}: "
                f"{references.links(naming)}. Disable it instead, or change those rows first.",
            )
        )
    if isinstance(row, rows.Response) and response.last_fallback(snapshot, row):
        found.append(response.last_fallback_message(Draft(row, snapshot, World())))
    return found


def stale_edit(row: Row, snapshot: Snapshot, *, who: str, when: str) -> Finding:
    """What an editor is told whose row somebody else changed meanwhile; the form keeps the text."""
    return Draft(row, snapshot, World()).error(
        "STALE_EDIT",
        None,
        f"Somebody ({who}, {when}) changed this row while you were editing. Reload to see the change; your text is "
        "kept in the form.",
    )
