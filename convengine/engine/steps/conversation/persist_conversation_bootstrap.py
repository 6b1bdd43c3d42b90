"""PersistConversationBootstrapStep: the conversation's row exists from here on (pipeline-1 5, ORD-5)."""

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class PersistConversationBootstrapStep(Step):
    """Store the conversation's row if needed. Normally the lease has made it."""

    after = ("ResetConversationStep",)
    rank = 400
    bootstrap = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Store the row if it was never stored: it has no creation time."""
        if turn.ports.conversations.load().conversation.created_at is None:
            turn.ports.conversations.store()
        return Continue(session)
