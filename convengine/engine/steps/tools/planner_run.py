"""The state of one planner run, its events, and which tool may follow the last one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from convengine.engine.forms.asking import read_text_setting
from convengine.engine.steps.tools import settings as catalogue
from convengine.engine.steps.tools.observations import Observation, bound_observations, build_observation
from convengine.engine.steps.tools.planner import CALL_TOOL, Plan
from convengine.engine.steps.tools.request import SUCCESS, cap_result, get_mcp_branch
from convengine.engine.steps.tools.settings import ALLOWED_NEXT, GUARDRAIL_FAIL_CLOSED, TOOL_GUARDRAIL_ENABLED
from convengine.engine.steps.tools.stages import MCP_LOOP_ABRUPTED, MCP_TOOL_CALL, MCP_TOOL_ERROR, MCP_TOOL_RESULT
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.owned_params import ToolParams
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: Stands for the tool before the first one.
START = "__START__"


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
        self._started = turn.ports.pace.elapsed_ms()
        self._budget = turn.config(session, catalogue.TURN_BUDGET_MS)

    def text(self, setting: Setting[str]) -> str:
        return read_text_setting(self.session, self.turn, setting)

    def remaining_ms(self) -> float:
        """The remaining time of the loop."""
        return self._budget - (self.turn.ports.pace.elapsed_ms() - self._started)

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
            ToolParams(mcp_action=plan.action, mcp_tool_code=plan.tool_code, mcp_tool_args=dict(plan.args)).having(
                ToolParams(mcp_operation_tag=plan.operation_tag) if plan.operation_tag else ToolParams()
            ),
            self._lifecycle(self.session.tools.mcp_status, "IN_PROGRESS", finished=False),
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
            routingDecision=session.routing.routing_decision,
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
        params = ToolParams(mcp_observations=self.observations, mcp_tool_group=self._group, mcp_status="TOOL_RESULT")
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
        params = ToolParams(mcp_tool_group=tool.tool_group, mcp_status="TOOL_ERROR")
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
            ToolParams(mcp_final_answer=answer, mcp_status=ending.status),
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
            ToolParams(mcp_status="MAX_LOOPS"),
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

    def _write(self, params: ToolParams, state: dict[str, Json], **branch: Json) -> None:
        branch_values = {**get_mcp_branch(self.session), **branch, "lifecycle": state}
        self.session = self.session.with_values(params).with_context({"mcp": branch_values})


def build_lifecycle(
    turn: Turn,
    status: object,
    outcome: str,
    *,
    finished: bool = True,
    error: str | None = None,
    blocked: bool = False,
) -> dict[str, object]:
    """`context.mcp.lifecycle`, without the last step."""
    return {
        "phase": "POST_AGENT_MCP",
        "status": status,
        "outcome": outcome,
        "finished": finished,
        "blocked": blocked,
        "error": error is not None,
        **({"errorMessage": error} if error is not None else {}),
        "toolExecuted": False,
        "turnId": turn.turn_id,
    }


def find_current_tool(observations: Sequence[Mapping[str, Json]]) -> str:
    return str(observations[-1]["toolCode"]) if observations else START


def find_refusal(session: Session, turn: Turn, current: str, following: str | None) -> str | None:
    """Why `following` may not be called after `current`. Returns None if there is none."""
    if not turn.config(session, TOOL_GUARDRAIL_ENABLED):
        return None
    if not code(following):
        return "The planner names no tool."
    allowed = _list_allowed(turn.config(session, ALLOWED_NEXT), current)
    if not allowed:
        closed = turn.config(session, GUARDRAIL_FAIL_CLOSED)
        return f"Nothing is said of what may follow {current}, and GUARDRAIL_FAIL_CLOSED is set." if closed else None
    if any(fnmatchcase(code(following), _escape_pattern(entry)) for entry in allowed):
        return None
    return f"{following} may not follow {current}; allowed: {', '.join(allowed)}."


def _list_allowed(entries: Mapping[str, Json], current: str) -> list[str]:
    """The list for the tool's own key, else for the key in upper case, else for matching keys with `*`, in order."""
    for key in (current, current.upper()):
        if isinstance(entries.get(key), list):
            return _list_texts(entries[key])
    wild = [key for key in entries if "*" in key and fnmatchcase(code(current), _escape_pattern(key))]
    return [entry for key in wild for entry in _list_texts(entries[key])]


def _list_texts(value: Json) -> list[str]:
    return [str(entry) for entry in value if entry] if isinstance(value, list) else []


def _escape_pattern(entry: str) -> str:
    """The entry as a pattern in which only `*` is special."""
    return code(entry).replace("[", "[[]").replace("?", "[?]")
