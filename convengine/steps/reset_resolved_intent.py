"""ResetResolvedIntentStep: an intent that means "start over" wipes the conversation (pipeline-1 15)."""

from convengine.domain.catalogue.intents import RESET_INTENT_CODES
from convengine.domain.enums import ResetReason
from convengine.domain.outcome import Continue
from convengine.domain.reset import RESET_FIELDS, reset
from convengine.domain.session import Session
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class ResetResolvedIntentStep(Step):
    """Only an intent resolved in this turn counts: a restored one would wipe every turn."""

    after = ("IntentResolutionStep",)
    rank = 1400
    requires_persisted = True
    writes = RESET_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Reset when the resolved intent is one of RESET_INTENT_CODES."""
        if session.intent_source is None:
            return Continue(session)
        codes = turn.config(session, RESET_INTENT_CODES) or RESET_INTENT_CODES.default
        if code(session.intent) not in codes:
            return Continue(session)
        return Continue(
            reset(
                session,
                turn,
                ResetReason.INTENT_RESOLVED_RESET,
                only=True,
                matchedResetIntentCodes=list(codes),
                matchedIntent=session.intent,
            )
        )
