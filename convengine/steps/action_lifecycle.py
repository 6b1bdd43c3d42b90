"""ActionLifecycleStep: keep the runtime record of the pending action (pipeline-1 11)."""

from convengine.actions.lifecycle import LIFECYCLE_FIELDS, advance
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class ActionLifecycleStep(Step):
    """Open, confirmed, rejected, expired: with limits in turns and minutes."""

    after = ("CorrectionStep",)
    rank = 1000
    requires_persisted = True
    writes = LIFECYCLE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Bring the record up to this turn."""
        return Continue(advance(session, turn))
