"""DisambiguationStep: when a yes could mean several actions, ask which one (pipeline-1 12)."""

from convengine.engine.pending_actions.question import SOURCE, ask_which_action
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.actions.action_lifecycle import LIFECYCLE_FIELDS, reopen_action
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class DisambiguationStep(Step):
    """Ask which action is meant; the question is the answer of the turn, the next message its reply."""

    after = ("ActionLifecycleStep",)
    rank = 1100
    requires_persisted = True
    writes = LIFECYCLE_FIELDS | {"reply_override"}

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Ask. An action that was confirmed meanwhile is open again."""
        session = ask_which_action(session, turn)
        asked = session.reply_override is not None and session.reply_override.source == SOURCE
        return Continue(reopen_action(session, turn) if asked else session)
