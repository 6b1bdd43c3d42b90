"""ToolOrchestrationStep: the one tool that was asked for by name (pipeline-2 3)."""

from convengine.domain.catalogue.tools import ORCHESTRATION_ENABLED
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.rules.apply import RULE_FIELDS
from convengine.tools.orchestrate import orchestrate


class ToolOrchestrationStep(Step):
    """A `tool_request` of this turn, else the best `ce_tool` row; once, without a planner."""

    after = ("PendingActionStep",)
    rank = 2000
    requires_persisted = True
    writes = RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Run it; switched off, or with nothing asked for, do nothing."""
        if not turn.config(session, ORCHESTRATION_ENABLED):
            return Continue(session)
        return Continue(orchestrate(session, turn))
