"""One run of the planner as it goes: what was seen, what the session and the trail are told of it (pipeline-2 4.5)."""

from dataclasses import dataclass
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue import tools as catalogue
from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.tools.lifecycle import lifecycle
from convengine.tools.next_tool import current_tool
from convengine.tools.observations import Observation, bounded, observed
from convengine.tools.outcome import SUCCESS, capped, mcp_branch
from convengine.tools.plan import CALL_TOOL, Plan

Json = Any


@dataclass(frozen=True)
class Ending:
    """How a run ends: with an answer of the planner, or with a setting's text instead of one."""

    status: str
    outcome: str
    fallback: Setting[str] | None = None
    answer: str = ""
    error: str | None = None
    blocked: bool = False


class Run:
    """The state of one run. `session` is always what has been told so far."""

    def __init__(self, session: Session, turn: Turn) -> None:
        self.session = session
        self.turn = turn
        self.max_loops = turn.config(session, catalogue.MCP_TOOL_MAX_LOOPS)
        self.observations: list[Observation] = []
        #: What was really called, by code and arguments.
        self.called: set[tuple[str, str]] = set()
        #: At least one tool gave a result.
        self.executed = False
        self._action: str | None = None
        #: The last call that was planned, and the group of its tool.
        self._call: Plan | None = None
        self._group: str | None = None
        self._calls = 0
        self._started = turn.ports.pace.spent_ms()
        self._budget = turn.config(session, catalogue.TURN_BUDGET_MS)

    def text(self, setting: Setting[str]) -> str:
        """The text of a setting."""
        return self.turn.config(self.session, setting)

    def left_ms(self) -> float:
        """What is left of the time for the whole loop."""
        return self._budget - (self.turn.ports.pace.spent_ms() - self._started)

    def pauses(self, number: int) -> bool:
        """Wait as long as is set before the call of this round; false when the time is over by then."""
        wait = self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_MS)
        if number > self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_CALLS):
            wait += self.turn.config(self.session, catalogue.MCP_TOOL_CALL_DELAY_AFTER_MS)
        if wait:
            if wait >= self.left_ms():
                return False
            self.turn.ports.pace.wait(wait)
        return True

    def plans(self, plan: Plan) -> None:
        """Tell what is to be done next."""
        self._action = plan.action
        if plan.action == CALL_TOOL:
            self._call, self._group = plan, None
        self._write(
            {"mcp_action": plan.action, "mcp_tool_code": plan.tool_code, "mcp_tool_args": dict(plan.args)}
            | ({"mcp_operation_tag": plan.operation_tag} if plan.operation_tag else {}),
            self._lifecycle(self.session.input_params.get("mcp_status"), "IN_PROGRESS", finished=False),
        )

    def tells_call(self, plan: Plan) -> None:
        """Tell the trail that a tool is about to be called."""
        session = self.session
        self._calls += 1
        self.turn.audit(
            session,
            Stage.MCP_TOOL_CALL,
            tool_code=plan.tool_code,
            args=dict(plan.args),
            action=plan.action,
            intent=session.intent,
            state=session.state,
            routingDecision=session.input_params.get("routing_decision"),
            observation_count=len(self.observations),
            current_observation_tool=current_tool(self.observations),
        )

    def observes(self, plan: Plan, tool: rows.Tool | None, result: Json, status: str | None = None) -> None:
        """Keep what came of a step; with SUCCESS it is a tool's result, and the trail is told."""
        limit = self.turn.config(self.session, catalogue.OBSERVATION_MAX_BYTES)
        self.observations = bounded(
            [*self.observations, observed(plan.tool_code or "", result, limit)],
            self.turn.config(self.session, catalogue.OBSERVATIONS_MAX_BYTES),
        )
        self._group = tool.tool_group if tool else None
        params = {"mcp_observations": self.observations, "mcp_tool_group": self._group, "mcp_status": "TOOL_RESULT"}
        state = self._lifecycle("TOOL_RESULT", "IN_PROGRESS", finished=False)
        self._write(params, state, observations=self.observations)
        if status == SUCCESS:
            self.turn.audit(
                self.session,
                Stage.MCP_TOOL_RESULT,
                tool_code=plan.tool_code,
                tool_group=self._group,
                rows=capped(result, limit),
            )

    def tells_error(self, plan: Plan, tool: rows.Tool, answer: ToolAnswer) -> None:
        """Tell context and trail that a tool failed."""
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
            Stage.MCP_TOOL_ERROR,
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
        """Tell how the run ended."""
        answer = self.text(ending.fallback) if ending.fallback else ending.answer
        self._write(
            {"mcp_final_answer": answer, "mcp_status": ending.status},
            self._lifecycle(ending.status, ending.outcome, error=ending.error, blocked=ending.blocked),
            finalAnswer=answer,
            finalAnswerDetermined=True,
            toolExecutionAbrupted=False,
            toolExecutionAbruptionLimit=self.max_loops,
        )

    def abrupted(self, reason: str) -> Session:
        """The session after a run that found no answer within its rounds or its time."""
        state = self._lifecycle("MAX_LOOPS", "ABRUPTED")
        self._write(
            {"mcp_status": "MAX_LOOPS"},
            {**state, "reason": reason},
            finalAnswerDetermined=False,
            toolExecutionAbrupted=True,
            toolExecutionAbruptionLimit=self.max_loops,
        )
        self.turn.audit(
            self.session, Stage.MCP_LOOP_ABRUPTED, reason=reason, limit=self.max_loops, tool_calls=self._calls
        )
        return self.session

    def _lifecycle(
        self, status: Json, outcome: str, *, finished: bool = True, error: str | None = None, blocked: bool = False
    ) -> dict[str, Json]:
        call = self._call
        of_call = (
            {"lastToolCode": call.tool_code, "lastToolGroup": self._group, "lastToolArgs": dict(call.args)}
            if call
            else {}
        )
        return {
            **lifecycle(self.turn, status, outcome, finished=finished, error=error, blocked=blocked),
            **({"lastAction": self._action} if self._action else {}),
            **of_call,
            "toolExecuted": self.executed,
        }

    def _write(self, params: dict[str, Json], state: dict[str, Json], **branch: Json) -> None:
        kept = {**mcp_branch(self.session), **branch, "lifecycle": state}
        self.session = self.session.with_params(params).with_context({"mcp": kept})
