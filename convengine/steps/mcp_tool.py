"""McpToolStep: a planner chooses tools until it can answer (pipeline-2 4)."""

from convengine.domain.enums import RulePhase
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.rules.apply import RULE_FIELDS, run_phase
from convengine.tools.gate import NO_TOOLS, gate
from convengine.tools.lifecycle import cleared, skipped
from convengine.tools.loop import planned
from convengine.tools.scope import tools_in_scope


class McpToolStep(Step):
    """Clear what the last run left, run the rules of PRE_AGENT_MCP, and let the planner run unless a gate is shut."""

    after = ("ToolOrchestrationStep",)
    rank = 2100
    requires_persisted = True
    writes = RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Rules may open or shut a gate, by moving the state, so they run first; under an override none run (R35)."""
        session = cleared(session, turn)
        if session.reply_override is None:
            session = run_phase(RulePhase.PRE_AGENT_MCP, "McpToolStep PreMcp", session, turn)
        if skip := gate(session, turn):
            return Continue(skipped(session, turn, skip))
        tools = tools_in_scope(session, turn)
        if not tools:
            return Continue(skipped(session, turn, NO_TOOLS))
        session = planned(session, turn, tools)
        return Continue(run_phase(RulePhase.POST_AGENT_MCP, self.name, session, turn))
