"""McpToolStep: a planner chooses tools until it can answer (pipeline-2 4)."""

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RULE_FIELDS, run_phase
from convengine.engine.steps.tools.gate import NO_TOOLS, find_shut_gate
from convengine.engine.steps.tools.lifecycle import clear_planner_state, skip_planner
from convengine.engine.steps.tools.planner_loop import run_planner
from convengine.engine.steps.tools.scope import list_tools_in_scope
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class McpToolStep(Step):
    """Clear the last run's data, run the rules of PRE_AGENT_MCP, and run the planner if allowed."""

    after = ("ToolOrchestrationStep",)
    rank = 2100
    requires_persisted = True
    writes = RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Rules may allow or prevent the planner by moving the state, so they run first; with an override none run.

        Source: R35.
        """
        session = clear_planner_state(session, turn)
        if session.reply_override is None:
            session = run_phase(RulePhase.PRE_AGENT_MCP, "McpToolStep PreMcp", session, turn)
        if skip := find_shut_gate(session, turn):
            return Continue(skip_planner(session, turn, skip))
        tools = list_tools_in_scope(session, turn)
        if not tools:
            return Continue(skip_planner(session, turn, NO_TOOLS))
        session = run_planner(session, turn, tools)
        return Continue(run_phase(RulePhase.POST_AGENT_MCP, self.name, session, turn))
