"""RulesStep: the state machine from the configuration, the last chance before the answer."""

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class RulesStep(Step):
    """Run the rules of phase PRE_RESPONSE_RESOLUTION; other steps run the other phases."""

    after = ("McpToolStep",)
    rank = 2200
    always_runs = True
    requires_persisted = True
    rights = (RUN_RULES,)

    def execute(self, session: Session, turn: Turn) -> Continue:
        return Continue(run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, self.name, session, turn))
