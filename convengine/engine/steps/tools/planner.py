"""The planner: plan, check, call, observe, until there is an answer or a limit is reached."""

from collections.abc import Sequence

from convengine.engine.forms.asking import read_text_setting
from convengine.engine.steps.tools import settings as catalogue
from convengine.engine.steps.tools.call import call_tool, call_tool_once, get_mcp_branch
from convengine.engine.steps.tools.observations import (
    Observation,
    bound_observations,
    build_observation,
    find_latest_summary,
)
from convengine.engine.steps.tools.plan import (
    ACTION_UNKNOWN,
    ANSWER,
    CALL_TOOL,
    FALLBACKS,
    RESTRICTED,
    START,
    PlannerFailed,
    ToolPlan,
    ask_next_step,
)
from convengine.engine.steps.tools.scope import find_obstacle, find_refusal
from convengine.engine.steps.tools.stages import (
    MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
    MCP_FINAL_ANSWER,
    MCP_LOOP_ABRUPTED,
    MCP_TOOL_CALL,
    MCP_TOOL_ERROR,
    MCP_TOOL_RESULT,
)
from convengine.engine.text.compare import code
from convengine.engine.tools.arguments import INVALID_ARGS, cap_result
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, resolve_group
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.owned_params import ToolParams
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The outcomes of a lifecycle that is not finished, and of one that a check has ended.
_IN_PROGRESS, _BLOCKED = "IN_PROGRESS", "BLOCKED"


def run_planner(session: Session, turn: Turn, tools: Sequence[rows.Tool]) -> Session:
    """The session after the planner has run. A failure of model or tool is an ending, not an error.

    With ON_PLANNER_ERROR = FAIL a failing model raises its own error.
    """
    run = _PlannerRun(session, turn, tools)
    for number in range(1, run.max_loops + 1):
        run.take_round(number)
        if run.has_ended:
            return run.session
    run.abort("MAX_LOOPS")
    return run.session


class _PlannerRun:
    """One run with the allowed tools. `session` is always up to date."""

    def __init__(self, session: Session, turn: Turn, tools: Sequence[rows.Tool]) -> None:
        self.session = session
        self.has_ended = False
        self.max_loops = turn.config(session, catalogue.MCP_TOOL_MAX_LOOPS)
        self._turn = turn
        self._tools = tools
        self._observations: list[Observation] = []
        #: The calls so far, by code and arguments.
        self._called: set[tuple[str, str]] = set()
        #: The calls so far, with those that were refused.
        self._calls = 0
        #: What `context.mcp.lifecycle` says of the last step.
        self._last_step: dict[str, Json] = {}
        #: At least one tool gave a result.
        self._has_executed = False
        self._started = turn.ports.pace.elapsed_ms()
        self._budget = turn.config(session, catalogue.TURN_BUDGET_MS)

    def take_round(self, number: int) -> None:
        """Plan once, and follow the plan if it is allowed."""
        if self._remaining_ms() <= 0:
            self.abort("TIME_BUDGET")
            return
        try:
            plan = ask_next_step(self.session, self._turn, self._tools, self._observations)
        except PlannerFailed as failed:
            self._end("PLANNER_ERROR", "ERROR", self._read_text(catalogue.MCP_FALLBACK_PLAN), str(failed))
            return
        self._record_plan(plan)
        if plan.action == ANSWER:
            self._accept_answer(plan)
        elif code(plan.operation_tag) == RESTRICTED:
            self._block(plan, catalogue.MCP_FALLBACK_POLICY, "The planner marks the operation as restricted.")
        elif plan.call in self._called:
            self._suppress_duplicate(plan)
        elif reason := find_refusal(self.session, self._turn, self._last_tool, plan.tool_code):
            self._block(plan, catalogue.MCP_FALLBACK_GUARDRAIL, reason)
        else:
            self._call(plan, number)

    def _accept_answer(self, plan: ToolPlan) -> None:
        """End the run with the planner's answer, or with the text of a setting if the plan has a reason."""
        answer = self._read_text(FALLBACKS[plan.reason]) if plan.reason else plan.answer
        if plan.reason == ACTION_UNKNOWN:
            self._end("FALLBACK", "FALLBACK", answer)
        else:
            self._end("ANSWER", "ANSWERED", answer)
        why = {"reason": plan.reason, "tool_code": plan.tool_code} if plan.reason else {}
        self._turn.audit(self.session, MCP_FINAL_ANSWER, answer=answer, **why)

    def _block(self, plan: ToolPlan, fallback: Setting[str], reason: str) -> None:
        """End the run, because a check forbids the planned step."""
        self._turn.audit(
            self.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            error=reason,
            current_observation_tool=self._last_tool,
            args=dict(plan.args),
        )
        self._end("GUARDRAIL_BLOCKED_NEXT_TOOL", _BLOCKED, self._read_text(fallback), reason)

    def _suppress_duplicate(self, plan: ToolPlan) -> None:
        """End the run instead of a second equal call, with the latest summary of a tool if there is one."""
        answer = find_latest_summary(self._observations) or self._read_text(catalogue.MCP_FALLBACK_UNSAFE_STEP)
        self._end("ANSWER", "ANSWERED", answer)
        self._turn.audit(
            self.session,
            MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
            answer=answer,
            reason="DUPLICATE_TOOL_CALL",
            tool_code=plan.tool_code,
            args=dict(plan.args),
        )

    def _call(self, plan: ToolPlan, number: int) -> None:
        """Call the planned tool; if it cannot be called, the planner sees the reason."""
        session = self.session
        self._calls += 1
        self._turn.audit(
            session,
            MCP_TOOL_CALL,
            tool_code=plan.tool_code,
            args=dict(plan.args),
            action=plan.action,
            **session.where,
            routingDecision=session.routing.routing_decision,
            observation_count=len(self._observations),
            current_observation_tool=self._last_tool,
        )
        tool = next((tool for tool in self._tools if code(tool.tool_code) == code(plan.tool_code)), None)
        if tool is None:
            known = ", ".join(tool.tool_code for tool in self._tools)
            self._refuse(plan, None, "UNKNOWN_TOOL", f"There is no tool {plan.tool_code} here. Known: {known}.")
        elif refusal := find_obstacle(self.session, tool, self._called):
            self._refuse(plan, tool, *refusal)
        elif not self._pause(number):
            self.abort("TIME_BUDGET")
        else:
            self._observe_answer(plan, tool, self._ask_tool(plan, tool))

    def _ask_tool(self, plan: ToolPlan, tool: rows.Tool) -> ToolAnswer:
        def ask() -> ToolAnswer:
            group, within_ms = resolve_group(tool.tool_group), max(int(self._remaining_ms()), 1)
            return call_tool(self.session, self._turn, tool, group, plan.args, within_ms)

        return ask() if tool.read_only else call_tool_once(self.session, self._turn, plan.tool_code, plan.call, ask)

    def _observe_answer(self, plan: ToolPlan, tool: rows.Tool, answer: ToolAnswer) -> None:
        """Record the answer of a tool, and let the planner see it, or end the run after an error (ON_TOOL_ERROR)."""
        if answer.error_type == INVALID_ARGS:
            self._refuse(plan, tool, INVALID_ARGS, answer.error_message or INVALID_ARGS)
            return
        self._called.add(plan.call)
        if tool.tool_id:
            self._turn.record_deciding_row(tool, DecisionKind.TOOL)
        if answer.error_type is None:
            self._has_executed = True
            self._observe(plan, tool, answer.result)
            result = cap_result(answer.result, self._turn.config(self.session, catalogue.OBSERVATION_MAX_BYTES))
            shown = {"tool_code": plan.tool_code, "tool_group": tool.tool_group, "rows": result}
            self._turn.audit(self.session, MCP_TOOL_RESULT, **shown)
            return
        error = answer.error_message or answer.error_type
        self._record_error(plan, tool, error, answer.error_type)
        if self._turn.config(self.session, catalogue.ON_TOOL_ERROR) == "STOP":
            self._end("TOOL_ERROR", "ERROR", self._read_text(catalogue.MCP_FALLBACK_TOOL_ERROR), error)
        else:
            self._observe(plan, tool, {"error": answer.error_type, "message": answer.error_message})

    def _refuse(self, plan: ToolPlan, tool: rows.Tool | None, error: str, message: str) -> None:
        """Nothing is called; the planner sees why, and may try again."""
        self._turn.audit(
            self.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            tool_group=tool.tool_group if tool else None,
            error=error,
            error_message=message,
            args=dict(plan.args),
        )
        self._observe(plan, tool, {"error": error, "tool_code": plan.tool_code, "details": [message]})

    @property
    def _last_tool(self) -> str:
        """The tool of the last observation, which decides which tool may follow."""
        return self._observations[-1]["toolCode"] if self._observations else START

    def _read_text(self, setting: Setting[str]) -> str:
        return read_text_setting(self.session, self._turn, setting)

    def _remaining_ms(self) -> float:
        return self._budget - (self._turn.ports.pace.elapsed_ms() - self._started)

    def _pause(self, number: int) -> bool:
        """Wait the configured time before the call of this round; false if the time is over then."""
        wait = self._turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_MS)
        if number > self._turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_CALLS):
            wait += self._turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_MS)
        if wait:
            if wait >= self._remaining_ms():
                return False
            self._turn.ports.pace.wait(wait)
        return True

    def _record_plan(self, plan: ToolPlan) -> None:
        """Write the planned step to the params and the context."""
        self._last_step["lastAction"] = plan.action
        if plan.action == CALL_TOOL:
            self._last_step |= {
                "lastToolCode": plan.tool_code,
                "lastToolGroup": None,
                "lastToolArgs": dict(plan.args),
            }
        params = ToolParams(mcp_action=plan.action, mcp_tool_code=plan.tool_code, mcp_tool_args=dict(plan.args))
        self._write(params, _IN_PROGRESS)
        if plan.operation_tag:
            self.session = self.session.with_values(ToolParams(mcp_operation_tag=plan.operation_tag))

    def _observe(self, plan: ToolPlan, tool: rows.Tool | None, result: Json) -> None:
        """Add what the planner sees next: the result of a tool, or why there is none."""
        limit = self._turn.config(self.session, catalogue.OBSERVATION_MAX_BYTES)
        self._observations = bound_observations(
            [*self._observations, build_observation(plan.tool_code or "", result, limit)],
            self._turn.config(self.session, catalogue.OBSERVATIONS_MAX_BYTES),
        )
        group = self._last_step["lastToolGroup"] = tool.tool_group if tool else None
        params = ToolParams(mcp_observations=self._observations, mcp_tool_group=group, mcp_status="TOOL_RESULT")
        self._write(params, _IN_PROGRESS, observations=self._observations)

    def _record_error(self, plan: ToolPlan, tool: rows.Tool, message: str, error: str) -> None:
        """Write the error of a tool to the params and the context, and record it."""
        self._last_step["lastToolGroup"] = tool.tool_group
        described = {
            "toolCode": plan.tool_code,
            "toolGroup": tool.tool_group,
            "errorMessage": message,
            "rootCauseMessage": message,
            "rootCauseClass": error,
            "args": dict(plan.args),
            "preflightDiagnostics": None,
        }
        params = ToolParams(mcp_tool_group=tool.tool_group, mcp_status="TOOL_ERROR")
        self._write(params, _IN_PROGRESS, message, toolExecutionError=described)
        self._turn.audit(
            self.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            tool_group=tool.tool_group,
            error=message,
            args=dict(plan.args),
            error_class=error,
            error_message=message,
            root_cause_class=error,
            root_cause_message=message,
        )

    def _end(self, status: str, outcome: str, answer: str, error: str | None = None) -> None:
        """End the run with an answer; `error` says what went wrong, if anything did."""
        self._write(
            ToolParams(mcp_final_answer=answer, mcp_status=status),
            outcome,
            error,
            finalAnswer=answer,
            finalAnswerDetermined=True,
            toolExecutionAbrupted=False,
            toolExecutionAbruptionLimit=self.max_loops,
        )

    def abort(self, reason: str) -> None:
        """End the run without an answer: it has none within its rounds or its time."""
        self._last_step["reason"] = reason
        self._write(
            ToolParams(mcp_status="MAX_LOOPS"),
            "ABRUPTED",
            finalAnswerDetermined=False,
            toolExecutionAbrupted=True,
            toolExecutionAbruptionLimit=self.max_loops,
        )
        self._turn.audit(self.session, MCP_LOOP_ABRUPTED, reason=reason, limit=self.max_loops, tool_calls=self._calls)

    def _write(self, params: ToolParams, outcome: str, error: str | None = None, **branch: Json) -> None:
        """Add params, members of `context.mcp`, and its lifecycle, which has the status of the params."""
        session = self.session.with_values(params)
        state = build_lifecycle(self._turn, session.tools.mcp_status, outcome, error)
        state |= {**self._last_step, "toolExecuted": self._has_executed}
        self.session = session.with_context({"mcp": {**get_mcp_branch(session), **branch, "lifecycle": state}})
        self.has_ended = outcome != _IN_PROGRESS


def build_lifecycle(turn: Turn, status: Json, outcome: str, error: str | None = None) -> dict[str, Json]:
    """`context.mcp.lifecycle`, without the last step."""
    return {
        "phase": "POST_AGENT_MCP",
        "status": status,
        "outcome": outcome,
        "finished": outcome != _IN_PROGRESS,
        "blocked": outcome == _BLOCKED,
        "error": error is not None,
        **({"errorMessage": error} if error is not None else {}),
        "toolExecuted": False,
        "turnId": turn.turn_id,
    }
