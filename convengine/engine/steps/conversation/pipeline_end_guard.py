"""PipelineEndGuardStep: the timing record and the last integrity check (pipeline-2 12)."""

from convengine.engine.errors import PipelineNoFinalResult
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.pipeline.timing import audit_timing
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class PipelineEndGuardStep(Step):
    """Write the timing record. For a stopped or failed turn the runner writes it."""

    rank = 2700
    requires_persisted = True
    terminal = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Raises PipelineNoFinalResult when there is no result."""
        if session.final_result is None or session.payload is None:
            raise PipelineNoFinalResult()
        audit_timing(session, turn, "COMPLETED")
        return Continue(session)
