"""RulesStep: the data-driven state machine, last chance before the answer (pipeline-2 7)."""

from convengine.domain.enums import RulePhase
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.rules.apply import RULE_FIELDS, run_phase


class RulesStep(Step):
    """Run the rules of phase PRE_RESPONSE_RESOLUTION; other steps call the same engine for other phases."""

    after = ("McpToolStep",)
    rank = 2200
    requires_persisted = True
    writes = RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Apply the phase."""
        return Continue(run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, self.name, session, turn))
