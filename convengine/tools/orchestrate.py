"""Run the one tool that a caller, a rule or a row asks for, without a planner (pipeline-2 3.3)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.tools import ALLOW_GROUP_ONLY, RESULT_MAX_BYTES
from convengine.domain.enums import RulePhase
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import truthy
from convengine.domain.turn import Turn
from convengine.rules.apply import run_phase
from convengine.tools.call import call_tool
from convengine.tools.direct import direct_row, row_request
from convengine.tools.outcome import BY_GUARDRAIL, ERROR, MISMATCH, SUCCESS, Outcome, capped, mcp_branch
from convengine.tools.request import InvalidToolRequest, ToolRequest, group_of, read_request
from convengine.tools.scope import tool_in_scope


def orchestrate(session: Session, turn: Turn) -> Session:
    """The session after the requested tool, if any is requested. A failure of the tool is an outcome, never an error.

    Rules of phase POST_TOOL_EXECUTION run after success, error and scope mismatch (R66).
    """
    asked = session.input_params.get("tool_request")
    if truthy(session.input_params.get("guardrail_blocked")):
        return _refused(session, turn) if asked else session
    if truthy(session.input_params.get("skip_tool_execution")) or session.reply_override or session.reset_only:
        return session
    try:
        request, row = read_request(asked), None
        if request is None and (row := direct_row(session, turn)):
            request = row_request(row, session, turn)
    except InvalidToolRequest as invalid:
        return _finished(session, turn, Outcome(ERROR, error=f"INVALID_TOOL_REQUEST: {invalid}"))
    if request is None:
        return session
    if row and row.run_once and (held := _held(session, request)):
        turn.audit(session, Stage.TOOL_ORCHESTRATION_RESULT, **held)
        return session.with_params({"tool_status": SUCCESS, "tool_result": held})
    session = session.with_params({"tool_request": request.stored()})
    turn.audit(session, Stage.TOOL_ORCHESTRATION_REQUEST, **request.stored(), ceToolId=row.pk if row else None)
    return _finished(session, turn, _outcome(request, session, turn))


def _refused(session: Session, turn: Turn) -> Session:
    session = session.with_params({"tool_status": BY_GUARDRAIL})
    turn.audit(
        session, Stage.TOOL_ORCHESTRATION_RESULT, status=BY_GUARDRAIL, intent=session.intent, state=session.state
    )
    return session


def _held(session: Session, request: ToolRequest) -> dict[str, Any] | None:
    """The result of a success that the context still holds for the same call; null when there is none (run_once)."""
    held = mcp_branch(session).get("toolExecution")
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


def _outcome(request: ToolRequest, session: Session, turn: Turn) -> Outcome:
    if request.tool_code is None:
        if not turn.config(session, ALLOW_GROUP_ONLY):
            return _failed(request, None, "GROUP_ONLY_NOT_ALLOWED: the request names a group but no tool.")
        return _run(request, None, str(request.tool_group), session, turn)
    tool = tool_in_scope(session, turn, request.tool_code)
    if tool is None:
        return Outcome(MISMATCH, request.tool_code, request.tool_group, request.args)
    group = group_of(tool.tool_group)
    if request.tool_group not in (None, group):
        return _failed(request, tool, f"TOOL_GROUP_MISMATCH: {tool.tool_code} belongs to group {group}.")
    return _run(request, tool, group, session, turn)


def _run(request: ToolRequest, tool: rows.Tool | None, group: str, session: Session, turn: Turn) -> Outcome:
    code = tool.tool_code if tool else None
    answer = call_tool(session, turn, tool, group, request.args)
    if answer.error_type is not None:
        error = answer.error_message or answer.error_type
        return Outcome(ERROR, code, group, request.args, error=error, error_type=answer.error_type, tool=tool)
    result = capped(answer.result, turn.config(session, RESULT_MAX_BYTES))
    return Outcome(SUCCESS, code, group, request.args, result, tool=tool)


def _failed(request: ToolRequest, tool: rows.Tool | None, error: str) -> Outcome:
    return Outcome(ERROR, request.tool_code, request.tool_group, request.args, error=error, tool=tool)


def _finished(session: Session, turn: Turn, outcome: Outcome) -> Session:
    told = outcome.told(session)
    session = session.with_params({"tool_status": outcome.status, "tool_result": told})
    session = session.with_context({"mcp": {**mcp_branch(session), "toolExecution": outcome.execution()}})
    failed = outcome.status == ERROR
    turn.audit(session, Stage.TOOL_ORCHESTRATION_ERROR if failed else Stage.TOOL_ORCHESTRATION_RESULT, **told)
    return run_phase(RulePhase.POST_TOOL_EXECUTION, "ToolOrchestrationStep PostTool", session, turn)
