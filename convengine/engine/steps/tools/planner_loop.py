"""The planner's loop: plan, check, call, observe, until there is an answer or a limit is reached."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from enum import Enum

from convengine.engine.steps.tools import settings as catalogue
from convengine.engine.steps.tools.call import INVALID_ARGS, call_tool
from convengine.engine.steps.tools.observations import find_latest_summary
from convengine.engine.steps.tools.planner import ACTION_UNKNOWN, ANSWER, RESTRICTED, Plan, PlannerFailed, ask_next_step
from convengine.engine.steps.tools.planner_run import Ending, PlannerRun, find_current_tool, find_refusal
from convengine.engine.steps.tools.request import SUCCESS, resolve_group
from convengine.engine.steps.tools.stages import MCP_DUPLICATE_TOOL_CALL_SUPPRESSED, MCP_FINAL_ANSWER, MCP_TOOL_ERROR
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.params import APPROVAL_KEYS
from convengine.engine.turn.ports import ExecutionClaim, ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

UNKNOWN_TOOL = "UNKNOWN_TOOL"
CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
ALREADY_RAN = "ALREADY_RAN"
#: Faults after which it is unknown whether the tool did its work: its claim stays open, and a person decides.
_UNKNOWN_END = frozenset({"TOOL_TIMEOUT", "MCP_TIMEOUT", "MCP_CONNECTION_LOST"})


class _Round(Enum):
    """The result of a round."""

    CONTINUES = "on"
    ENDED = "ended"


def run_planner(session: Session, turn: Turn, tools: Sequence[rows.Tool]) -> Session:
    """Run the planner. A failure of model or tool is an ending, not an error.

    With ON_PLANNER_ERROR = FAIL a failing model raises its own error.
    """
    run = PlannerRun(session, turn)
    by_code = {code(tool.tool_code): tool for tool in tools}
    for number in range(1, run.max_loops + 1):
        if run.remaining_ms() <= 0:
            return run.abort("TIME_BUDGET")
        if _Loop(run, tools, by_code).round(number) is _Round.ENDED:
            return run.session
    return run.abort("MAX_LOOPS")


class _Loop:
    """One run with the allowed tools."""

    def __init__(self, run: PlannerRun, tools: Sequence[rows.Tool], by_code: dict[str, rows.Tool]) -> None:
        self._run = run
        self._tools = tools
        self._by_code = by_code

    def round(self, number: int) -> _Round:
        """Plan once and follow the plan."""
        run = self._run
        try:
            plan = ask_next_step(run.session, run.turn, self._tools, run.observations)
        except PlannerFailed as failed:
            return self._end_run(Ending("PLANNER_ERROR", "ERROR", catalogue.MCP_FALLBACK_PLAN, error=str(failed)))
        run.record_plan(plan)
        if plan.action == ANSWER:
            return self._accept_answer(plan)
        if code(plan.operation_tag) == RESTRICTED:
            return self._block_call(
                plan, catalogue.MCP_FALLBACK_POLICY, "The planner marks the operation as restricted."
            )
        if plan.call in run.called:
            return self._suppress_duplicate(plan)
        if reason := find_refusal(run.session, run.turn, find_current_tool(run.observations), plan.tool_code):
            return self._block_call(plan, catalogue.MCP_FALLBACK_GUARDRAIL, reason)
        return self._call(plan, number)

    def _accept_answer(self, plan: Plan) -> _Round:
        run = self._run
        answer = run.text(plan.fallback) if plan.fallback else plan.answer
        is_unknown = plan.reason == ACTION_UNKNOWN
        run.end(Ending("FALLBACK" if is_unknown else "ANSWER", "FALLBACK" if is_unknown else "ANSWERED", answer=answer))
        why = {"reason": plan.reason, "tool_code": plan.tool_code} if plan.reason else {}
        run.turn.audit(run.session, MCP_FINAL_ANSWER, answer=answer, **why)
        return _Round.ENDED

    def _suppress_duplicate(self, plan: Plan) -> _Round:
        run = self._run
        answer = find_latest_summary(run.observations) or run.text(catalogue.MCP_FALLBACK_UNSAFE_STEP)
        run.end(Ending("ANSWER", "ANSWERED", answer=answer))
        run.turn.audit(
            run.session,
            MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
            answer=answer,
            reason="DUPLICATE_TOOL_CALL",
            tool_code=plan.tool_code,
            args=dict(plan.args),
        )
        return _Round.ENDED

    def _block_call(self, plan: Plan, fallback: Setting[str], reason: str) -> _Round:
        run = self._run
        run.turn.audit(
            run.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            error=reason,
            current_observation_tool=find_current_tool(run.observations),
            args=dict(plan.args),
        )
        return self._end_run(Ending("GUARDRAIL_BLOCKED_NEXT_TOOL", "BLOCKED", fallback, error=reason, blocked=True))

    def _end_run(self, ending: Ending) -> _Round:
        self._run.end(ending)
        return _Round.ENDED

    def _call(self, plan: Plan, number: int) -> _Round:
        """Call the planned tool; if it cannot be called, the planner sees the reason."""
        run = self._run
        run.audit_call(plan)
        tool = self._by_code.get(code(plan.tool_code))
        if tool is None:
            known = ", ".join(tool_row.tool_code for tool_row in self._tools)
            return self._refuse_call(
                plan, None, UNKNOWN_TOOL, f"There is no tool {plan.tool_code} here. Known: {known}."
            )
        claim: ExecutionClaim | None = None
        if not tool.read_only:
            if not is_confirmed(run.session):
                message = f"{tool.tool_code} changes something; the user has to confirm it first."
                return self._refuse_call(plan, tool, CONFIRMATION_REQUIRED, message)
            if any(called == code(tool.tool_code) for called, _ in run.called):
                return self._refuse_call(plan, tool, ALREADY_RAN, f"{tool.tool_code} has run in this turn already.")
            claim = build_claim(run.session, run.turn, plan)
        if not run.pause_before_call(number):
            run.abort("TIME_BUDGET")
            return _Round.ENDED
        return self._observe_answer(plan, tool, self._call_or_reuse(plan, tool, claim))

    def _call_or_reuse(self, plan: Plan, tool: rows.Tool, claim: ExecutionClaim | None) -> ToolAnswer:
        run = self._run
        earlier = claim_call(run.turn, claim) if claim else None
        if earlier is not None:
            return earlier
        group, remaining_ms = resolve_group(tool.tool_group), max(int(run.remaining_ms()), 1)
        answer = call_tool(run.session, run.turn, tool, group, plan.args, remaining_ms)
        if claim:
            finish_claim(run.turn, claim, answer)
        return answer

    def _observe_answer(self, plan: Plan, tool: rows.Tool, answer: ToolAnswer) -> _Round:
        run = self._run
        if answer.error_type == INVALID_ARGS:
            return self._refuse_call(plan, tool, INVALID_ARGS, answer.error_message or INVALID_ARGS)
        run.called.add(plan.call)
        if tool.tool_id:
            run.turn.record_deciding_row(tool, DecisionKind.TOOL)
        if answer.error_type is None:
            run.executed = True
            run.record_observation(plan, tool, answer.result, SUCCESS)
            return _Round.CONTINUES
        run.record_error(plan, tool, answer)
        if run.turn.config(run.session, catalogue.ON_TOOL_ERROR) == "STOP":
            error = answer.error_message or answer.error_type
            return self._end_run(Ending("TOOL_ERROR", "ERROR", catalogue.MCP_FALLBACK_TOOL_ERROR, error=error))
        run.record_observation(plan, tool, {"error": answer.error_type, "message": answer.error_message})
        return _Round.CONTINUES

    def _refuse_call(self, plan: Plan, tool: rows.Tool | None, error: str, message: str) -> _Round:
        """Nothing is called; the planner sees why, and may try again."""
        run = self._run
        run.turn.audit(
            run.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            tool_group=tool.tool_group if tool else None,
            error=error,
            error_message=message,
            args=dict(plan.args),
        )
        run.record_observation(plan, tool, {"error": error, "tool_code": plan.tool_code, "details": [message]})
        return _Round.CONTINUES


def is_confirmed(session: Session) -> bool:
    """True when the user confirmed, or the caller approved, this turn's action."""
    approved = any(truthy(session.params.get(name)) for name in APPROVAL_KEYS)
    return approved or code(session.routing.routing_decision) == "PROCEED_CONFIRMED"


def build_claim(session: Session, turn: Turn, plan: Plan) -> ExecutionClaim:
    """The right to this call; a repeated call after a dead turn gets the same."""
    tool, args = plan.call
    digest = hashlib.sha256(args.encode()).hexdigest()
    return ExecutionClaim(
        conversation_id=session.conversation_id,
        turn_id=turn.turn_id,
        nonce=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{turn.turn_id}:{tool}")),
        action_key=f"tool:{plan.tool_code}",
        action_ref=f"{plan.tool_code}#{digest[:16]}",
        request_hash=digest,
    )


def claim_call(turn: Turn, claim: ExecutionClaim) -> ToolAnswer | None:
    """Returns None when the tool may run now; else the outcome of the earlier run.

    Raises ConversationPersistFailed: without a claim nothing may run.
    """
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        return None
    stored = execution.result if isinstance(execution.result, Mapping) else {}
    if execution.status == "EXECUTED":
        return ToolAnswer(stored.get("result"))
    message = "An earlier call of this tool with these arguments may have done its work; a person decides."
    return ToolAnswer(error_type="ALREADY_CLAIMED", error_message=message)


def finish_claim(turn: Turn, claim: ExecutionClaim, answer: ToolAnswer) -> None:
    """Store the outcome of the call, unless it is unknown."""
    if answer.error_type in _UNKNOWN_END:
        return
    status = "FAILED" if answer.error_type else "EXECUTED"
    turn.ports.executions.finish(claim, status, {"result": answer.result, "errorType": answer.error_type})
