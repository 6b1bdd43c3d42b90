"""ResetResolvedIntentStep: an intent that means "start over" clears the conversation (pipeline-1 15)."""

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import ResetReason
from convengine.engine.turn.reset import RESET_FIELDS, reset_session
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class ResetResolvedIntentStep(Step):
    """Reset only for an intent that was resolved in this turn; a restored one would reset every turn."""

    after = ("IntentResolutionStep",)
    rank = 1400
    requires_persisted = True
    writes = RESET_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Reset if the resolved intent is one of RESET_INTENT_CODES."""
        if session.intent_source is None:
            return Continue(session)
        codes = turn.config(session, RESET_INTENT_CODES) or RESET_INTENT_CODES.default
        if code(session.intent) not in codes:
            return Continue(session)
        return Continue(
            reset_session(
                session,
                turn,
                ResetReason.INTENT_RESOLVED_RESET,
                only=True,
                matchedResetIntentCodes=list(codes),
                matchedIntent=session.intent,
            )
        )
