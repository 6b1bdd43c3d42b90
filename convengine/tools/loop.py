"""The planner's loop: plan, check, call, observe, until there is an answer or a bound is reached (pipeline-2 4.2)."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue import tools as catalogue
from convengine.domain.enums import DecisionKind
from convengine.domain.ports import ExecutionClaim, ToolAnswer
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.tools import writing
from convengine.tools.arguments import INVALID_ARGS
from convengine.tools.call import call_tool
from convengine.tools.next_tool import current_tool, refusal
from convengine.tools.observations import summary_of
from convengine.tools.outcome import SUCCESS
from convengine.tools.plan import ANSWER, RESTRICTED, Plan
from convengine.tools.planner import PlannerFailed, next_step
from convengine.tools.request import group_of
from convengine.tools.run import Ending, Run

Json = Any
UNKNOWN_TOOL = "UNKNOWN_TOOL"
CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
ALREADY_RAN = "ALREADY_RAN"


class _Goes(Enum):
    """What a round says of the next one."""

    ON = "on"
    ENDED = "ended"


def planned(session: Session, turn: Turn, tools: Sequence[rows.Tool]) -> Session:
    """The session after the planner's run. A failure of model or tool is an ending, not an error.

    With ON_PLANNER_ERROR = FAIL a failing model raises its own error.
    """
    run = Run(session, turn)
    by_code = {code(tool.tool_code): tool for tool in tools}
    for number in range(1, run.max_loops + 1):
        if run.left_ms() <= 0:
            return run.abrupted("TIME_BUDGET")
        if _Loop(run, tools, by_code).round(number) is _Goes.ENDED:
            return run.session
    return run.abrupted("MAX_LOOPS")


class _Loop:
    """One run with the tools that it may use."""

    def __init__(self, run: Run, tools: Sequence[rows.Tool], by_code: dict[str, rows.Tool]) -> None:
        self._run = run
        self._tools = tools
        self._by_code = by_code

    def round(self, number: int) -> _Goes:
        """One plan, and what comes of it."""
        run = self._run
        try:
            plan = next_step(run.session, run.turn, self._tools, run.observations)
        except PlannerFailed as failed:
            return self._ended(Ending("PLANNER_ERROR", "ERROR", catalogue.MCP_FALLBACK_PLAN, error=str(failed)))
        run.plans(plan)
        if plan.action == ANSWER:
            return self._answered(plan)
        if code(plan.operation_tag) == RESTRICTED:
            return self._blocked(plan, catalogue.MCP_FALLBACK_POLICY, "The planner marks the operation as restricted.")
        if plan.call in run.called:
            return self._repeated(plan)
        if reason := refusal(run.session, run.turn, current_tool(run.observations), plan.tool_code):
            return self._blocked(plan, catalogue.MCP_FALLBACK_GUARDRAIL, reason)
        return self._call(plan, number)

    def _answered(self, plan: Plan) -> _Goes:
        run = self._run
        answer = run.text(plan.fallback) if plan.fallback else plan.answer
        run.end(Ending("ANSWER", "ANSWERED", answer=answer))
        why = {"reason": plan.reason, "tool_code": plan.tool_code} if plan.reason else {}
        run.turn.audit(run.session, Stage.MCP_FINAL_ANSWER, answer=answer, **why)
        return _Goes.ENDED

    def _repeated(self, plan: Plan) -> _Goes:
        run = self._run
        answer = summary_of(run.observations) or run.text(catalogue.MCP_FALLBACK_UNSAFE_STEP)
        run.end(Ending("ANSWER", "ANSWERED", answer=answer))
        run.turn.audit(
            run.session,
            Stage.MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
            answer=answer,
            reason="DUPLICATE_TOOL_CALL",
            tool_code=plan.tool_code,
            args=dict(plan.args),
        )
        return _Goes.ENDED

    def _blocked(self, plan: Plan, fallback: Setting[str], reason: str) -> _Goes:
        run = self._run
        run.turn.audit(
            run.session,
            Stage.MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            error=reason,
            current_observation_tool=current_tool(run.observations),
            args=dict(plan.args),
        )
        return self._ended(Ending("GUARDRAIL_BLOCKED_NEXT_TOOL", "BLOCKED", fallback, error=reason, blocked=True))

    def _ended(self, ending: Ending) -> _Goes:
        self._run.end(ending)
        return _Goes.ENDED

    def _call(self, plan: Plan, number: int) -> _Goes:
        """Call the planned tool; what cannot be called is shown to the planner instead."""
        run = self._run
        run.tells_call(plan)
        tool = self._by_code.get(code(plan.tool_code))
        if tool is None:
            known = ", ".join(one.tool_code for one in self._tools)
            return self._refused(plan, None, UNKNOWN_TOOL, f"There is no tool {plan.tool_code} here. Known: {known}.")
        claim: ExecutionClaim | None = None
        if not tool.read_only:
            if not writing.confirmed(run.session):
                said = f"{tool.tool_code} changes something; the user has to confirm it first."
                return self._refused(plan, tool, CONFIRMATION_REQUIRED, said)
            if any(called == code(tool.tool_code) for called, _ in run.called):
                return self._refused(plan, tool, ALREADY_RAN, f"{tool.tool_code} has run in this turn already.")
            claim = writing.claim_of(run.session, run.turn, plan)
        if not run.pauses(number):
            run.abrupted("TIME_BUDGET")
            return _Goes.ENDED
        return self._seen(plan, tool, self._answer(plan, tool, claim))

    def _answer(self, plan: Plan, tool: rows.Tool, claim: ExecutionClaim | None) -> ToolAnswer:
        run = self._run
        earlier = writing.claimed(run.turn, claim) if claim else None
        if earlier is not None:
            return earlier
        group, left = group_of(tool.tool_group), max(int(run.left_ms()), 1)
        answer = call_tool(run.session, run.turn, tool, group, plan.args, left)
        if claim:
            writing.finish(run.turn, claim, answer)
        return answer

    def _seen(self, plan: Plan, tool: rows.Tool, answer: ToolAnswer) -> _Goes:
        run = self._run
        if answer.error_type == INVALID_ARGS:
            return self._refused(plan, tool, INVALID_ARGS, answer.error_message or INVALID_ARGS)
        run.called.add(plan.call)
        if tool.tool_id:
            run.turn.decided_by(tool, DecisionKind.TOOL)
        if answer.error_type is None:
            run.executed = True
            run.observes(plan, tool, answer.result, SUCCESS)
            return _Goes.ON
        run.tells_error(plan, tool, answer)
        if run.turn.config(run.session, catalogue.ON_TOOL_ERROR) == "STOP":
            error = answer.error_message or answer.error_type
            return self._ended(Ending("TOOL_ERROR", "ERROR", catalogue.MCP_FALLBACK_TOOL_ERROR, error=error))
        run.observes(plan, tool, {"error": answer.error_type, "message": answer.error_message})
        return _Goes.ON

    def _refused(self, plan: Plan, tool: rows.Tool | None, error: str, said: str) -> _Goes:
        """Nothing is called; the planner sees why, and may try again."""
        run = self._run
        run.turn.audit(
            run.session,
            Stage.MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            tool_group=tool.tool_group if tool else None,
            error=error,
            error_message=said,
            args=dict(plan.args),
        )
        run.observes(plan, tool, {"error": error, "tool_code": plan.tool_code, "details": [said]})
        return _Goes.ON
