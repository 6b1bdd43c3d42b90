"""The state of one planner run, and its events (pipeline-2 4.5)."""

from dataclasses import dataclass
from typing import Any

from convengine.engine.steps.tools import settings as catalogue
from convengine.engine.steps.tools.lifecycle import build_lifecycle
from convengine.engine.steps.tools.next_tool import find_current_tool
from convengine.engine.steps.tools.observations import Observation, bound_observations, build_observation
from convengine.engine.steps.tools.outcome import SUCCESS, cap_result, get_mcp_branch
from convengine.engine.steps.tools.plan import CALL_TOOL, Plan
from convengine.engine.steps.tools.stages import MCP_LOOP_ABRUPTED, MCP_TOOL_CALL, MCP_TOOL_ERROR, MCP_TOOL_RESULT
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any


@dataclass(frozen=True)
class Ending:
    """The end of a run: an answer of the planner, or the text of a setting."""

    status: str
    outcome: str
    fallback: Setting[str] | None = None
    answer: str = ""
    error: str | None = None
    blocked: bool = False


class PlannerRun:
    """The state of one run. `session` is always up to date."""

    def __init__(self, session: Session, turn: Turn) -> None:
        self.session = session
        self.turn = turn
        self.max_loops = turn.config(session, catalogue.MCP_TOOL_MAX_LOOPS)
        self.observations: list[Observation] = []
        #: The calls so far, by code and arguments.
        self.called: set[tuple[str, str]] = set()
        #: At least one tool gave a result.
        self.executed = False
        self._action: str | None = None
        #: The last planned call, and the group of its tool.
        self._call: Plan | None = None
        self._group: str | None = None
        self._calls = 0
        self._started = turn.ports.pace.spent_ms()
        self._budget = turn.config(session, catalogue.TURN_BUDGET_MS)

    def text(self, setting: Setting[str]) -> str:
        return self.turn.config(self.session, setting)

    def remaining_ms(self) -> float:
        """The remaining time of the loop."""
        return self._budget - (self.turn.ports.pace.spent_ms() - self._started)

    def pause_before_call(self, number: int) -> bool:
        """Wait the configured time before the call of this round; false if the time is over then."""
        wait = self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_MS)
        if number > self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_CALLS):
            wait += self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_MS)
        if wait:
            if wait >= self.remaining_ms():
                return False
            self.turn.ports.pace.wait(wait)
        return True

    def record_plan(self, plan: Plan) -> None:
        """Record the next step."""
        self._action = plan.action
        if plan.action == CALL_TOOL:
            self._call, self._group = plan, None
        self._write(
            {"mcp_action": plan.action, "mcp_tool_code": plan.tool_code, "mcp_tool_args": dict(plan.args)}
            | ({"mcp_operation_tag": plan.operation_tag} if plan.operation_tag else {}),
            self._lifecycle(self.session.input_params.get("mcp_status"), "IN_PROGRESS", finished=False),
        )

    def audit_call(self, plan: Plan) -> None:
        """Record that a tool is about to be called."""
        session = self.session
        self._calls += 1
        self.turn.audit(
            session,
            MCP_TOOL_CALL,
            tool_code=plan.tool_code,
            args=dict(plan.args),
            action=plan.action,
            intent=session.intent,
            state=session.state,
            routingDecision=session.input_params.get("routing_decision"),
            observation_count=len(self.observations),
            current_observation_tool=find_current_tool(self.observations),
        )

    def record_observation(self, plan: Plan, tool: rows.Tool | None, result: Json, status: str | None = None) -> None:
        """Record the result of a step; with SUCCESS it is a tool's result."""
        limit = self.turn.config(self.session, catalogue.OBSERVATION_MAX_BYTES)
        self.observations = bound_observations(
            [*self.observations, build_observation(plan.tool_code or "", result, limit)],
            self.turn.config(self.session, catalogue.OBSERVATIONS_MAX_BYTES),
        )
        self._group = tool.tool_group if tool else None
        params = {"mcp_observations": self.observations, "mcp_tool_group": self._group, "mcp_status": "TOOL_RESULT"}
        state = self._lifecycle("TOOL_RESULT", "IN_PROGRESS", finished=False)
        self._write(params, state, observations=self.observations)
        if status == SUCCESS:
            self.turn.audit(
                self.session,
                MCP_TOOL_RESULT,
                tool_code=plan.tool_code,
                tool_group=self._group,
                rows=cap_result(result, limit),
            )

    def record_error(self, plan: Plan, tool: rows.Tool, answer: ToolAnswer) -> None:
        """Record in context and audit that a tool failed."""
        message, self._group = answer.error_message or answer.error_type, tool.tool_group
        error = {
            "toolCode": plan.tool_code,
            "toolGroup": tool.tool_group,
            "errorMessage": message,
            "rootCauseMessage": message,
            "rootCauseClass": answer.error_type,
            "args": dict(plan.args),
            "preflightDiagnostics": None,
        }
        params = {"mcp_tool_group": tool.tool_group, "mcp_status": "TOOL_ERROR"}
        state = self._lifecycle("TOOL_ERROR", "IN_PROGRESS", finished=False, error=message)
        self._write(params, state, toolExecutionError=error)
        self.turn.audit(
            self.session,
            MCP_TOOL_ERROR,
            tool_code=plan.tool_code,
            tool_group=tool.tool_group,
            error=message,
            args=dict(plan.args),
            error_class=answer.error_type,
            error_message=message,
            root_cause_class=answer.error_type,
            root_cause_message=message,
        )

    def end(self, ending: Ending) -> None:
        """Record how the run ended."""
        answer = self.text(ending.fallback) if ending.fallback else ending.answer
        self._write(
            {"mcp_final_answer": answer, "mcp_status": ending.status},
            self._lifecycle(ending.status, ending.outcome, error=ending.error, blocked=ending.blocked),
            finalAnswer=answer,
            finalAnswerDetermined=True,
            toolExecutionAbrupted=False,
            toolExecutionAbruptionLimit=self.max_loops,
        )

    def abort(self, reason: str) -> Session:
        """The session after a run without an answer within its rounds or its time."""
        state = self._lifecycle("MAX_LOOPS", "ABRUPTED")
        self._write(
            {"mcp_status": "MAX_LOOPS"},
            {**state, "reason": reason},
            finalAnswerDetermined=False,
            toolExecutionAbrupted=True,
            toolExecutionAbruptionLimit=self.max_loops,
        )
        self.turn.audit(self.session, MCP_LOOP_ABRUPTED, reason=reason, limit=self.max_loops, tool_calls=self._calls)
        return self.session

    def _lifecycle(
        self, status: Json, outcome: str, *, finished: bool = True, error: str | None = None, blocked: bool = False
    ) -> dict[str, Json]:
        call = self._call
        call_fields = (
            {"lastToolCode": call.tool_code, "lastToolGroup": self._group, "lastToolArgs": dict(call.args)}
            if call
            else {}
        )
        return {
            **build_lifecycle(self.turn, status, outcome, finished=finished, error=error, blocked=blocked),
            **({"lastAction": self._action} if self._action else {}),
            **call_fields,
            "toolExecuted": self.executed,
        }

    def _write(self, params: dict[str, Json], state: dict[str, Json], **branch: Json) -> None:
        branch_values = {**get_mcp_branch(self.session), **branch, "lifecycle": state}
        self.session = self.session.with_params(params).with_context({"mcp": branch_values})
