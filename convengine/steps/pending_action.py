"""PendingActionStep: run the action that the user confirmed, or drop the one that was refused (pipeline-2 2)."""

from convengine.actions.conclude import conclude
from convengine.actions.lifecycle import LIFECYCLE_FIELDS
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class PendingActionStep(Step):
    """At most one run for each opened action; a task that fails is a result, not an error of the turn."""

    after = ("AutoAdvanceStep",)
    rank = 1900
    requires_persisted = True
    writes = LIFECYCLE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Leave the outcome in `pending_action_result` and in the record."""
        return Continue(conclude(session, turn))
