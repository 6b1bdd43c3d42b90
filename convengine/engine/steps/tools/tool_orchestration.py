"""ToolOrchestrationStep: run the one tool that is requested by name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convengine.engine.forms.life import follows_ended_form
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.prompts.render import list_names, render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.rules.choice import choose_response
from convengine.engine.steps.tools.call import (
    BY_GUARDRAIL,
    ERROR,
    MISMATCH,
    SUCCESS,
    InvalidToolRequest,
    ToolOutcome,
    ToolRequest,
    build_row_request,
    call_tool,
    choose_direct_row,
    get_mcp_branch,
    read_request,
)
from convengine.engine.steps.tools.scope import find_tool_in_scope
from convengine.engine.steps.tools.settings import ALLOW_GROUP_ONLY, ORCHESTRATION_ENABLED, RESULT_MAX_BYTES
from convengine.engine.steps.tools.stages import (
    TOOL_ORCHESTRATION_ERROR,
    TOOL_ORCHESTRATION_REQUEST,
    TOOL_ORCHESTRATION_RESULT,
)
from convengine.engine.text.compare import truthy
from convengine.engine.text.several_texts import select_text
from convengine.engine.tools.arguments import cap_result
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, ToolGroup, resolve_group
from convengine.engine.turn.owned_params import ToolParams
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: The fault of a result without what the answer says of it, and the name by which texts read a result.
RESULT_INCOMPLETE = "TOOL_RESULT_INCOMPLETE"
_RESULT = "tool_result.result"


class ToolOrchestrationStep(Step):
    """Run the `tool_request` of this turn, else the best `ce_tool` row; once, without a planner."""

    after = ("PendingActionStep",)
    rank = 2000
    requires_persisted = True
    writes = frozenset({"tools", "context"})
    rights = (RUN_RULES,)

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        if session.only_digresses:
            return "the message is a question in between"
        if not turn.config(session, ORCHESTRATION_ENABLED):
            return "tools by request are switched off"
        has_rows = bool(turn.snapshot.rows(rows.DirectTool))
        return None if session.tools.tool_request or has_rows else "no tool is requested"

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Run the requested tool; without a request, do nothing."""
        return Continue(run_requested_tool(session, turn))


def run_requested_tool(session: Session, turn: Turn) -> Session:
    """The session after the requested tool, if any. A failed tool is an outcome, never an error.

    Rules of phase POST_TOOL_EXECUTION run after success, error and scope mismatch.
    """
    requested = session.tools.tool_request
    if truthy(session.action.guardrail_blocked):
        if requested:
            session = session.with_values(ToolParams(tool_status=BY_GUARDRAIL))
            turn.audit(session, TOOL_ORCHESTRATION_RESULT, status=BY_GUARDRAIL, **session.where)
        return session
    if truthy(session.action.skip_tool_execution) or session.reply_override or session.reset_only:
        return session
    try:
        request, row = read_request(requested), None
        # After the end of a form, no tool is called again with the fields that have left the context.
        is_open = request is None and not follows_ended_form(session, turn)
        if is_open and (row := choose_direct_row(session, turn)):
            request = build_row_request(row, session, turn)
    except InvalidToolRequest as invalid:
        return _store_outcome(session, turn, ToolOutcome(ERROR, error=f"INVALID_TOOL_REQUEST: {invalid}"))
    if request is None:
        return session
    if row and row.run_once and (held := _find_held_result(session, request)):
        turn.audit(session, TOOL_ORCHESTRATION_RESULT, **held)
        return session.with_values(ToolParams(tool_status=SUCCESS, tool_result=held))
    session = session.with_values(ToolParams(tool_request=request.to_json()))
    turn.audit(session, TOOL_ORCHESTRATION_REQUEST, **request.to_json(), ceToolId=row.pk if row else None)
    return _store_outcome(session, turn, _run_in_scope(request, session, turn))


def _find_held_result(session: Session, request: ToolRequest) -> dict[str, Any] | None:
    """The stored result of the same successful call, for `run_once`. Returns None if there is none."""
    held = get_mcp_branch(session).get("toolExecution")
    if not isinstance(held, Mapping):
        return None
    if (held.get("status"), held.get("toolCode"), held.get("args")) != (SUCCESS, request.tool_code, request.args):
        return None
    return {
        "status": SUCCESS,
        "tool_code": held.get("toolCode"),
        "tool_group": held.get("toolGroup"),
        "result": held.get("result"),
        "_meta": held.get("meta"),
        "reused": True,
    }


def _run_in_scope(request: ToolRequest, session: Session, turn: Turn) -> ToolOutcome:
    """Run the requested tool if it may be used here. Every obstacle is an outcome."""
    if request.tool_code is None:
        if not turn.config(session, ALLOW_GROUP_ONLY):
            return _build_failure(request, None, "GROUP_ONLY_NOT_ALLOWED: the request names a group but no tool.")
        return _call_and_cap(request, None, str(request.tool_group), session, turn)
    tool, failed = find_tool_in_scope(session, turn, request.tool_code)
    if failed is not None:
        error = failed.error_message or str(failed.error_type)
        outcome = ToolOutcome(ERROR, request.tool_code, ToolGroup.MCP_SERVER.value, request.args, error=error)
        return replace(outcome, error_type=failed.error_type)
    if tool is None:
        return ToolOutcome(MISMATCH, request.tool_code, request.tool_group, request.args)
    group = resolve_group(tool.tool_group)
    if request.tool_group not in (None, group):
        return _build_failure(request, tool, f"TOOL_GROUP_MISMATCH: {tool.tool_code} belongs to group {group}.")
    return _call_and_cap(request, tool, group, session, turn)


def _call_and_cap(
    request: ToolRequest, tool: rows.Tool | None, group: str, session: Session, turn: Turn
) -> ToolOutcome:
    """Call the tool. The outcome has the result, shortened to RESULT_MAX_BYTES, or the error."""
    code = tool.tool_code if tool else None
    answer = call_tool(session, turn, tool, group, request.args)
    if answer.error_type is not None:
        error = answer.error_message or answer.error_type
        return ToolOutcome(ERROR, code, group, request.args, error=error, error_type=answer.error_type, tool=tool)
    result = cap_result(answer.result, turn.config(session, RESULT_MAX_BYTES))
    outcome = ToolOutcome(SUCCESS, code, group, request.args, result, tool=tool)
    if lacking := _list_lacking(outcome, session, turn):
        error = f"The result lacks what the answer of this state prints: {', '.join(lacking)}."
        return replace(outcome, status=ERROR, result=None, error=error, error_type=RESULT_INCOMPLETE)
    return outcome


def _list_lacking(outcome: ToolOutcome, session: Session, turn: Turn) -> list[str]:
    """What the answer of the state would print of the result, and the result has not; all that it prints may be null.

    None if rules read the result, because they may choose another answer.
    """
    intent, state = session.intent, session.state
    rules = turn.snapshot.in_scope(rows.Rule, intent, state)
    row = choose_response(turn.snapshot, intent, state).winner
    text = select_text(row.exact_text or "", session.conversation_id) if row is not None else ""
    names = {name for name in list_names(text) if name.startswith(_RESULT)}
    if not names or any("tool_" in f"{rule.match_pattern} {rule.match_target}" for rule in rules):
        return []
    session = session.with_values(ToolParams(tool_status=SUCCESS, tool_result=outcome.to_result(session)))
    rendered = render_lenient(text, build_variables(session, turn))
    missing = [name for name in rendered.missing if name in names]
    empty = [name for name in rendered.empty if name in names]
    return missing or (empty if set(empty) == names else [])


def _build_failure(request: ToolRequest, tool: rows.Tool | None, error: str) -> ToolOutcome:
    return ToolOutcome(ERROR, request.tool_code, request.tool_group, request.args, error=error, tool=tool)


def _store_outcome(session: Session, turn: Turn, outcome: ToolOutcome) -> Session:
    """Store and record the outcome, and run the rules of POST_TOOL_EXECUTION."""
    result = outcome.to_result(session)
    session = session.with_values(ToolParams(tool_status=outcome.status, tool_result=result))
    session = session.with_context({"mcp": {**get_mcp_branch(session), "toolExecution": outcome.to_execution()}})
    failed = outcome.status == ERROR
    turn.audit(session, TOOL_ORCHESTRATION_ERROR if failed else TOOL_ORCHESTRATION_RESULT, **result)
    return run_phase(RulePhase.POST_TOOL_EXECUTION, "ToolOrchestrationStep PostTool", session, turn)
