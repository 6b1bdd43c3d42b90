"""PersistConversationBootstrapStep: the conversation row exists from here on (pipeline-1 5, ORD-5)."""

from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class PersistConversationBootstrapStep(Step):
    """The anchor of the order. The row is made with the lease, so there is usually nothing left to do."""

    after = ("ResetConversationStep",)
    rank = 400
    bootstrap = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Store the row when whoever loaded it did not: one without a creation time was never stored."""
        if turn.ports.conversations.load().conversation.created_at is None:
            turn.ports.conversations.store()
        return Continue(session)
