"""PipelineEndGuardStep: the timing record and the last integrity check (pipeline-2 12)."""

from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.errors import PipelineNoFinalResult
from convengine.pipeline.step import Step
from convengine.pipeline.timing import audit_timing


class PipelineEndGuardStep(Step):
    """Always last. A stopped or failed turn gets its timing record from the runner instead."""

    rank = 2700
    requires_persisted = True
    terminal = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Raises PipelineNoFinalResult when there is no result to hand back."""
        if session.final_result is None or session.payload is None:
            raise PipelineNoFinalResult()
        audit_timing(session, turn, "COMPLETED")
        return Continue(session)
