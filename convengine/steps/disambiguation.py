"""DisambiguationStep: when a yes could mean several actions, ask which one instead of guessing (pipeline-1 12)."""

from convengine.actions.lifecycle import LIFECYCLE_FIELDS, reverted
from convengine.actions.question import SOURCE, disambiguate
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class DisambiguationStep(Step):
    """The question is the answer of the turn; the next message is its reply."""

    after = ("ActionLifecycleStep",)
    rank = 1100
    requires_persisted = True
    writes = LIFECYCLE_FIELDS | {"reply_override"}

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Ask; an action that was confirmed meanwhile is open again."""
        session = disambiguate(session, turn)
        asked = session.reply_override is not None and session.reply_override.source == SOURCE
        return Continue(reverted(session, turn) if asked else session)
